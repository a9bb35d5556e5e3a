// The instructions of a lowered program, in the order in which they run.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "plan/schedule.hpp"
#include "program/program_counter.hpp"

namespace mir {

/// An instruction that is about to run.
struct ProgramStep {
  std::uint64_t number = 0;  ///< of all steps of the run, from 0
  std::size_t pc = 0;        ///< index in the code fragment
  std::size_t depth = 0;     ///< jumps that are open
  const Op* instruction = nullptr;
};

/// Follows a run of a program. The graphs that the program was lifted to compute the results. Each
/// op of them has the location of its launch, so the trace finds the instruction that runs.
class ProgramTrace {
 public:
  using Show = std::function<void(const ProgramStep&)>;

  /// Programs have no conditions, so no program needs many steps.
  static constexpr std::uint64_t kDefaultStepLimit = std::uint64_t{1} << 24;

  /// `program` is a verified module with a code fragment, which must outlive this; `graphs` is the
  /// plan of the lifted module.
  ProgramTrace(const Module& program, const Schedule& graphs);

  /// Counts the steps. Returns false after reporting a program that takes more than `limit`.
  bool check_steps(std::uint64_t limit, Diagnostics& diagnostics) const;

  /// Begins a run: shows the instructions up to the first one that computes.
  void begin(const Show& show);
  /// An op of the graphs has run: shows the instructions up to the next one that computes.
  void follow(const Op& op);
  /// All ops have run: shows the remaining instructions.
  void end();

 private:
  void go_on(bool stops_at_launches);
  bool computes(const prog::Instruction& instruction) const;

  ProgramCode code_;
  std::unordered_set<std::uint32_t> computing_;  // locations of the graphs' steps, raw
  ProgramCounter counter_;
  Show show_;
  std::uint64_t number_ = 0;
  bool has_ended_ = true;
};

}  // namespace mir
