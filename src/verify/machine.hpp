// The program machine, followed without running: every path of a program is known from its text.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "verify/checks.hpp"

namespace mir::checks {

/// The code segment of a module and the order in which its instructions run. There is no branch,
/// so what stops a program shows when each label's body is followed once.
class Machine {
 public:
  Machine(const Census& census, Reporter& reporter);

  /// Null: the module has no program.
  const Op* segment() const { return segment_; }
  std::span<const Op* const> code() const { return code_; }
  /// Instructions in the order in which they first run. Empty until `run`.
  std::span<const Op* const> executed() const { return executed_; }
  /// Whether `run` came to prog.exit.
  bool has_exited() const { return has_exited_; }

  /// Follows the program from its first instruction; reports what stops it.
  void run();
  /// Calls `visit` for each instruction as often as it runs. Whether the program comes to
  /// prog.exit; not where bodies that call others several times make that too long to follow.
  bool replay(const std::function<void(const Op&)>& visit) const;
  /// The label a jump names; null: none.
  const Op* label_of(const Op& jump) const;

 private:
  struct Frame {
    std::size_t back;  // where the jump stands
    const Op* label;
  };
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  bool step(std::size_t& pc);
  bool call(std::size_t& pc, const Op& jump);

  Reporter& reporter_;
  const Op* segment_ = nullptr;
  std::vector<const Op*> code_;
  std::unordered_map<Symbol, std::size_t> labels_;  // index in code_
  std::unordered_map<const Op*, State> states_;     // of labels
  std::vector<Frame> frames_;
  std::vector<const Op*> executed_;
  bool has_exited_ = false;
};

/// Frees and reads along the order in which a program runs.
void slots(const Machine& machine, Reporter& reporter);

}  // namespace mir::checks
