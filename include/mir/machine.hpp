// The program machine: modules of the prog dialect run as they are, instruction by instruction.
//
// State: a program counter, a stack of return addresses, and a slot for each storage id. Where a
// launch lost options, they are derived when it first runs, as `upgrade` derives them, from the
// launch and the tensors in its slots; then the reference kernels compute it. Lifting the same
// program to graphs (upgrade/lift_program.hpp) and running those gives the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/session.hpp"
#include "mir/tensor.hpp"
#include "mir/upgrade.hpp"
#include "mir/weights.hpp"

namespace mir {

struct MachineOptions {
  /// Where parameters come from; must outlive the machine.
  const WeightSet* weights = nullptr;
  /// What is granted where launches lost their meaning. Grants name types or kernels;
  /// operands are those that `take_operands` gave; symbolic extents mean nothing here.
  UpgradeOptions assumed;
  /// As in SessionOptions.
  std::uint64_t weight_memory = std::numeric_limits<std::uint64_t>::max();
};

/// An instruction that is about to run.
struct MachineStep {
  std::uint64_t number = 0;  ///< of all steps of the run, from 0
  std::size_t pc = 0;        ///< index in the code fragment
  std::size_t depth = 0;     ///< jumps that are open
  const Op* instruction = nullptr;
};

struct MachineRun {
  /// A run that takes more is an error. Without a condition no program needs many.
  std::uint64_t step_limit = std::uint64_t{1} << 24;
  /// As in RunOptions.
  bool is_last = false;
  std::stop_token stop;
  std::function<void(const MachineStep&)> trace;
};

/// A loaded program. Kernels are made when they are first launched and keep parameters and state
/// (caches) from run to run; launches that name one kernel share it.
class ProgramMachine {
 public:
  /// Takes a module in dump form with one code fragment; it must outlive the machine and stay as it
  /// is. It need not be verified: what goes wrong goes wrong when it runs. None after reporting a
  /// module that is no program and bindings that cannot be understood.
  static std::optional<ProgramMachine> load(const Module& module, const MachineOptions& options,
                                            Diagnostics& diagnostics);
  ProgramMachine(ProgramMachine&&) noexcept;
  ProgramMachine& operator=(ProgramMachine&&) noexcept;
  ~ProgramMachine();

  /// What the program binds, by position, then the slots that it reads and nothing fills (caches
  /// and masks that a host makes). A type is that of the first mention; null without one.
  std::span<const Port> inputs() const;
  /// What the program binds, by position, then the inputs that it stores into, by their ids: they
  /// are given as they are at the end, or where the program frees them.
  std::span<const Port> outputs() const;

  /// For each input the extent that its integers index, as the lifted graph tells; none where they
  /// index nothing or the program cannot be lifted with what is assumed.
  std::vector<std::optional<std::int64_t>> index_bounds() const;

  /// One tensor per input, in order; slots are empty at first, except those of constants. None
  /// after reporting, at the instruction concerned with the open jumps as notes: jumps to nowhere,
  /// returns without a jump, slots read empty or freed, bindings that do not fit, launches that
  /// cannot be computed, too many steps.
  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs, Diagnostics& diagnostics,
                                         const MachineRun& options = {});

  /// Facts that executed launches had lost.
  const LossReport& losses() const;

 private:
  friend class MachineExecution;
  struct State;
  explicit ProgramMachine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir
