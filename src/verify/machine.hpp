// The program machine, followed without running: every path of a program is known from its text.
#pragma once

#include <unordered_map>
#include <vector>

#include "checks.hpp"

namespace mir::checks {

/// The code segment of a module and the order in which its instructions run. There is no branch,
/// so each label's body is followed once, however often it is called.
class Machine {
 public:
  Machine(const Census& census, Reporter& reporter);

  /// Null: the module has no program.
  const Op* segment() const { return segment_; }
  std::span<const Op* const> code() const { return code_; }
  /// Instructions in the order in which they first run. Empty until `run`.
  std::span<const Op* const> executed() const { return executed_; }
  /// Whether the last run came to prog.exit.
  bool has_exited() const { return has_exited_; }

  /// Follows the program from its first instruction; reports what stops it.
  void run();
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
  OpKind jump_, ret_, exit_, label_;
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
