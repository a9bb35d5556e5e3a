// A schedule compiled for one set of kernels: nodes, the values between them, places for values.
//
// A plan is made once for an entry and bound to values of its symbols for each run that changes
// them. Steps become nodes: by fast kernels, several steps at once where fusion allows, or one by
// one by reference kernels. A value whose extents are known when it is made has a planned address
// in a block of memory, shared by values that are not alive together; any other value is a tensor
// that its node makes, and ends after its last reader. There is a block for what is known before a
// run computes anything, and one for each step whose results decide extents (phases.hpp). With
// reference kernels no value is planned.
//
// Binding to extents that were bound before and running again allocate nothing, except for steps
// that reference kernels compute and outputs that a caller still holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "eval/evaluate.hpp"
#include "kernels/fast/context.hpp"
#include "mir/compute.hpp"
#include "mir/diagnostic.hpp"
#include "plan/binder.hpp"
#include "plan/packed_weights.hpp"
#include "plan/parameter_source.hpp"
#include "plan/schedule.hpp"

namespace mir {

struct PlanOptions {
  KernelSet kernels = KernelSet::kFast;
  // Options of fast kernels:
  bool fuses = true;                                ///< groups of steps in one graph.FusedOp
  Activations activations = Activations::kFloat32;  ///< of Linear
  /// Most bytes of results that are computed when the plan is made and kept. Without fusion every
  /// step is computed in each run.
  std::uint64_t folded_bytes = std::uint64_t{16} << 20;
};

/// Work done when a plan was made: kernel calls that depend on constants and parameters only.
struct FoldedNodes {
  std::size_t nodes = 0;
  std::uint64_t bytes = 0;  ///< of the results that runs read
};

/// Resources for making a plan; borrowed for the call.
struct PlanResources {
  ParameterSource* parameters = nullptr;
  /// Parameters that nothing but products reads: once packed they are released for good.
  const std::unordered_set<Symbol>* only_packed = nullptr;  ///< null: none
  const QuantisationTable* quantisations = nullptr;         ///< null: nothing holds codes
  std::span<const Tensor> constants;                        ///< by value of the schedule
  PackedWeights* weights = nullptr;
  fast::Context* context = nullptr;
};

/// A step of the schedule of a region.
struct RegionStep {
  const Schedule* schedule = nullptr;
  std::size_t step = 0;
};

/// Arguments of a run of a plan; borrowed for the run.
struct PlanRun {
  std::span<const Tensor> inputs;
  fast::Context* context = nullptr;
  ParameterSource* parameters = nullptr;
  /// State that evaluate() may modify. Appended tokens count once they are committed.
  EvalEnvironment environment;
  Binder* binder = nullptr;  ///< values of symbols; those that results bind are added
  bool is_last = false;      ///< parameters are released for good after their last reader
  std::stop_token stop = {};
  std::uint64_t* iterations_left = nullptr;  ///< of loops; null: no limit
  /// Optional. Receives the steps inside regions at which the run failed, innermost first.
  std::vector<RegionStep>* failed_in_regions = nullptr;
  /// Optional. Called with the number of finished steps when it has changed.
  std::function<void(std::size_t steps)> done = {};
  /// Optional. Called when data has determined extents, the binder has their symbols, and values
  /// have their places. An error ends the run.
  std::function<Result<void>()> decided = {};
  /// Optional. Called with the time of each node that succeeded; without it, no times are taken.
  std::function<void(const KernelTiming&)> timed = {};
  /// Optional; only for plans without fusion. Called with each step's operands and results. It may
  /// replace results by others of the same element types and extents, which later steps then read.
  /// An error ends the run.
  std::function<Result<void>(std::size_t step, std::span<const Tensor> operands,
                             std::span<Tensor> results)>
      observe = {};
};

/// An error and the step at which it occurred; no step if it occurred before or after all of them.
struct PlanFailure {
  std::optional<std::size_t> step;
  Error error;
};

class ExecutionPlan {
 public:
  /// The schedule must outlive the plan, as must `resources.weights`.
  static ExecutionPlan create(const Schedule& schedule, const PlanOptions& options,
                              const PlanResources& resources);
  ExecutionPlan(ExecutionPlan&&) noexcept;
  ExecutionPlan& operator=(ExecutionPlan&&) noexcept;
  ~ExecutionPlan();

  /// Gives every planned value its extents and its place. Returns a failure if a symbol that sizes
  /// a value has no value, no tensor can have the type and extents of a value, or memory is short.
  /// Cheap when the bindings are those of the call before.
  std::optional<PlanFailure> bind(const DimBindings& bindings);

  /// Gives back tensors that run() returned, in their order or fewer. The next run may write its
  /// outputs there, if they have no other owner.
  void give_back(std::vector<Tensor> outputs);

  /// Returns one tensor for each output. The next run reuses the tensor of a planned value if it
  /// has no owner left when that run ends. See PlanExecution for a run step by step.
  std::variant<std::vector<Tensor>, PlanFailure> run(const PlanRun& run);

  KernelSet kernels() const;
  /// Returns the work that runs skip because its results are constant.
  const FoldedNodes& folded() const;
  /// Describes each node, one line each.
  const std::vector<std::string>& node_names() const;
  /// Bytes that the planned values of a run need at the least: most bytes alive at one node.
  std::uint64_t lower_bound() const;
  /// Bytes of the block that they lie in.
  std::uint64_t planned_bytes() const;

 private:
  struct State;
  friend class PlanExecution;
  explicit ExecutionPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir
