// A schedule compiled for the fast kernels: fused steps, planned storage, packed weights.
//
// A plan is made once for an entry and bound to values of its symbols for each run that changes
// them. Binding gives every value an address in one block of memory, planned so that values that
// are not alive together share it; running calls one kernel a node. Binding to extents bound before
// and running again allocate nothing, but for steps that reference kernels compute and outputs that
// whoever got them still holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "eval/evaluate.hpp"
#include "kernels/fast/context.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "mir/compute.hpp"
#include "mir/result.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Whether plans have fast kernels for an op, or it is no work in them at all. Whether one is used
/// depends on element types and attributes too.
bool has_fast_node(OpId op);

/// What a weight is made from: bytes of a file, and the type in which it is packed.
struct WeightOrigin {
  Tensor stored;
  DType dtype = DType::kFloat32;
  std::int64_t elements = 0;
};

/// Weights in the order in which the kernels of one instruction set read them, by parameter.
class PackedWeights {
 public:
  PackedWeights();
  ~PackedWeights();

  /// About how many bytes will be packed in all. Matrices that share one block leave a part of at
  /// most one large page unused.
  void expect(std::size_t bytes);
  /// The packed form of a parameter [outputs, depth] of a packable type; packs it when it is not
  /// there yet. An error when memory is short, the tensor has another number of elements, or it was
  /// packed in another way before.
  Result<const fast::PackedMatrix*> pack(Symbol parameter, const Tensor& tensor,
                                         std::int64_t outputs, std::int64_t depth,
                                         fast::Context& context,
                                         Activations = Activations::kFloat32);
  /// Null when it is not packed.
  const fast::PackedMatrix* find(Symbol parameter) const;

  /// From now on take() looks into this file, which need not be there. An error when it cannot be
  /// read or is something else than a cache of packed weights.
  Result<void> open_cache(const std::string& path);
  bool has_cache() const { return kept_ != nullptr; }
  /// The packed form of a parameter as pack() would make it, from the file; null when the file does
  /// not have it. Then what pack() makes is written by write_cache(). The name tells matrices of
  /// one file apart.
  const fast::PackedMatrix* take(Symbol parameter, std::string_view name,
                                 const WeightOrigin& origin, std::int64_t outputs,
                                 std::int64_t depth, fast::Context& context,
                                 Activations activations);
  /// Writes what was asked of take() to the file, unless it has all of it.
  Result<void> write_cache(fast::Context& context);
  /// What is damaged in the file, as the end of a sentence about it; empty: nothing was found.
  std::string cache_problem() const;
  /// The bytes of the file that matrices may lie in.
  std::span<const std::byte> cache_mapping() const;

  std::uint64_t bytes() const { return bytes_; }

 private:
  Result<std::span<std::byte>> allocate(std::size_t bytes);

  std::unordered_map<Symbol, std::unique_ptr<fast::PackedMatrix>> matrices_;
  std::vector<fast::LargePages> blocks_;
  std::size_t used_ = 0;  // of the last block
  std::size_t expected_ = 0;
  struct Kept;
  std::unique_ptr<Kept> kept_;  // null: there is no cache
  std::uint64_t bytes_ = 0;
};

struct CacheBuffers;

/// Keys and values of all caches of a session, with room to append in place.
class CacheStore {
 public:
  CacheStore();
  ~CacheStore();

  /// Tokens that a cache holds after the last run that succeeded.
  std::int64_t length(Symbol cache) const;
  /// What the last run appended counts from now on; without this the next run forgets it.
  void commit();
  /// Empties every cache; the memory stays for what follows.
  void clear();
  /// What the tokens in all caches take, without the room behind them.
  std::uint64_t bytes() const;

 private:
  friend class CacheAccess;
  std::unordered_map<Symbol, std::unique_ptr<CacheBuffers>> caches_;
};

struct PlanOptions {
  Fusion fusion = Fusion::kAll;
  Activations activations = Activations::kFloat32;  ///< of Linear
  /// Most bytes of results that are computed when the plan is made and kept. Without fusion every
  /// step is computed in each run.
  std::uint64_t folded_bytes = std::uint64_t{16} << 20;
};

/// What was computed when a plan was made: kernel calls on constants and parameters alone.
struct FoldedNodes {
  std::size_t nodes = 0;
  std::uint64_t bytes = 0;  ///< of the results that runs read
};

/// What a plan is made from; borrowed for the call.
struct PlanResources {
  const ParameterTable* parameters = nullptr;
  /// Puts a weight of a product into the table where it is not there; null: all are. Those that
  /// runs do not need in another form are released once they are packed.
  std::function<Result<void>(Symbol)> acquire = {};
  std::function<void(Symbol)> release = {};
  /// What a weight is made from; none where that is no file. Asked for when packed weights have a
  /// cache; null: never.
  std::function<std::optional<WeightOrigin>(Symbol)> origin = {};
  const QuantisationTable* quantisations = nullptr;  ///< null: nothing holds codes
  std::span<const Tensor> constants;                 ///< by slot of the schedule
  PackedWeights* weights = nullptr;
  fast::Context* context = nullptr;
};

/// What a run of a plan needs besides the plan; borrowed for the call.
struct PlanRun {
  std::span<const Tensor> inputs;
  fast::Context* context = nullptr;
  CacheStore* caches = nullptr;
  EvalEnvironment environment;  ///< for steps that reference kernels compute
  std::stop_token stop = {};
  /// Called after each node with the number of steps that are done; null: not.
  std::function<void(std::size_t steps)> done = {};
  /// Called after each node that succeeded; null: nothing is timed.
  std::function<void(const KernelTiming&)> timed = {};
  /// Called with each step's operands and results, copies of them; other results of the same
  /// element types and extents that it puts there are what the steps after it take. An error ends
  /// the run. Only for plans without fusion; null: not.
  std::function<Result<void>(std::size_t step, std::span<const Tensor> operands,
                             std::span<Tensor> results)>
      observe = {};
};

/// What went wrong, and at which step.
struct PlanFailure {
  std::size_t step = 0;
  Error error;
};

class ExecutionPlan {
 public:
  /// An error says why the schedule cannot be planned: a value of no known type, say. The schedule
  /// must outlive the plan, as must `resources.weights`.
  static Result<ExecutionPlan> create(const Schedule& schedule, const PlanOptions& options,
                                      const PlanResources& resources);
  ExecutionPlan(ExecutionPlan&&) noexcept;
  ExecutionPlan& operator=(ExecutionPlan&&) noexcept;
  ~ExecutionPlan();

  /// Gives every value its extents and its place. An error when a symbol that sizes a value has no
  /// value or memory is short. Cheap when the bindings are those of the call before.
  Result<void> bind(const DimBindings& bindings);

  /// One tensor for each output; one that nobody holds when the next run ends is written again.
  /// What caches are given counts once they are committed.
  std::variant<std::vector<Tensor>, PlanFailure> run(const PlanRun& run);

  /// What runs do not compute, because it is the same in all of them.
  const FoldedNodes& folded() const;
  /// One line for each node: what it computes.
  const std::vector<std::string>& node_names() const;
  /// Bytes that the values of a run need at the least: most bytes alive at one node.
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
