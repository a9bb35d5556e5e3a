// A program, followed without running it: every path is known from its text.
#pragma once

#include <functional>
#include <vector>

#include "program/program_code.hpp"
#include "program/program_counter.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

/// The order in which the instructions of a program run. There is no branch, so what stops a
/// program shows when each label's body is followed once.
class Execution {
 public:
  Execution(const ProgramCode& code, Reporter& reporter) : code_(code), reporter_(reporter) {}

  /// Instructions in the order in which they first run. Empty until `run`.
  std::span<const Op* const> executed() const { return executed_; }
  /// True if `run` reached prog.exit.
  bool has_exited() const { return has_exited_; }

  /// Follows the program from its first instruction; reports what stops it.
  void run();
  /// Calls `visit` for each instruction as often as it runs. Whether the program comes to
  /// prog.exit; not where bodies that call others several times make that too long to follow.
  bool replay(const std::function<void(const prog::Instruction&)>& visit) const;

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  bool step(ProgramCounter& counter);
  bool call(ProgramCounter& counter, const prog::Jump& jump);
  void exit(const ProgramCounter& counter);

  const ProgramCode& code_;
  Reporter& reporter_;
  std::vector<State> states_;  // of the labels, by instruction
  std::vector<const Op*> executed_;
  bool has_exited_ = false;
};

/// Frees and reads along the order in which a program runs.
void slots(const ProgramCode& code, const Execution& execution, Reporter& reporter);

}  // namespace mir::checks
