// Running a portable module.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mir/compute.hpp"
#include "mir/diagnostic.hpp"
#include "mir/dim.hpp"
#include "mir/ports.hpp"
#include "mir/result.hpp"
#include "mir/tensor.hpp"
#include "mir/weights.hpp"

namespace mir {

class Module;
class Session;

struct SessionOptions {
  /// Runs this graph instead of the module body.
  std::string entry;
  /// Where parameters come from; another float type than the module states is converted. Not
  /// needed after create().
  const WeightSet* weights = nullptr;
  /// More graphs that runs can enter, with the same parameters and caches; "" is the module body.
  std::vector<std::string> further_entries = {};
  /// Parameters of the same name, element type and extents are those of this session, which must be
  /// of a module in the same context. Not needed after create().
  const Session* share_parameters = nullptr;
  /// Ops without a kernel that graphs of the module compute: name ("linalg.MyOp" or "MyOp") and
  /// symbol. Operands are the graph's inputs, results what it returns.
  std::map<std::string, std::string, std::less<>> bound_ops = {};
  /// Ops without a kernel that callbacks compute. Results are checked against their declared types;
  /// that equal operands give equal bits is then the callback's promise.
  CustomOps custom_ops = {};
  KernelSet kernels = KernelSet::kRef;
  /// Of fast kernels. Runs that are observed fuse nothing.
  Fusion fusion = Fusion::kAll;
  /// In which type fast kernels of Linear take activations and weights of floats.
  Activations activations = Activations::kFloat32;
  /// The highest instruction set that fast kernels use; none: what the machine has.
  std::optional<IsaLevel> isa = std::nullopt;
  /// Threads that pack weights for fast kernels.
  unsigned threads = 1;
  /// Parameters that no file holds as they are needed (invented, converted, decoded) are made when
  /// a step first needs them; those that come first stay between steps and runs, up to this many
  /// bytes, the others are made again for each step. Of a session that shares parameters the
  /// first one's counts. Fast kernels make each before the first run and keep those not packed.
  std::uint64_t weight_memory = std::numeric_limits<std::uint64_t>::max();
  /// A file in which fast kernels keep packed weights from start to start (docs/weights.md); empty:
  /// they are packed each time. A file that is something else is an error, one that is damaged or
  /// cannot be written a warning.
  std::string packed_cache = {};
};

/// One step that was executed and whose results fit their types.
struct StepResults {
  std::size_t step = 0;  ///< its number in the order of execution, those of graphs at each call
  const Op& op;
  std::span<const Tensor> operands;
  /// An observer may put other tensors of the same element types and extents here; the steps that
  /// follow take them.
  std::span<Tensor> results;
};

struct RunOptions {
  /// What is run: 0 for `entry`, then `further_entries` in order.
  std::size_t entry = 0;
  /// Values of dimension symbols stated by the caller; inputs must agree with them.
  DimBindings dims;
  /// Threads that compute. Reference kernels use one; the number never changes a bit of the
  /// results.
  unsigned threads = 1;
  /// Runs that need more bytes than this besides the parameters are refused, as far as types tell;
  /// 0: no limit.
  std::uint64_t memory_limit = 0;
  /// No run follows: parameters that were made are released after their last reader.
  bool is_last = false;
  /// Looked at before each step; a stopped run reports kCancelled.
  std::stop_token stop;
  /// Called with the results of each step; an error ends the run and is reported at the op.
  std::function<Result<void>(const StepResults&)> observe;
  /// Called after each kernel call; null: nothing is timed.
  std::function<void(const KernelTiming&)> timed = {};
  /// Called after each step with the number of steps done and of all steps.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

/// Bytes that a session needs whatever it runs, each thing once.
struct SessionMemory {
  std::uint64_t parameters = 0;  ///< all of them, as the module states them
  std::uint64_t packed = 0;      ///< of weights that fast kernels read in an order of their own
  std::uint64_t caches = 0;      ///< what caches hold now
};

/// One module with its parameters and its caches, ready to run again and again. The caches are
/// empty at first; docs/ops/cache.md says what they hold afterwards.
///
/// A run binds the symbols of input types from the inputs and those of `past` from the caches,
/// executes the steps in order, checks each result against its declared type and releases tensors
/// after their last use. Every problem is reported at the op concerned, with the calls that led
/// there as notes. A run that fails leaves the caches as they were before it.
///
/// The same inputs, weights and cache contents give the same bits: with reference kernels always,
/// with fast kernels on one instruction set and with the same fusion.
class Session {
 public:
  /// Takes a verified portable module, which must outlive the session. Reports ops that cannot be
  /// executed, parameters that no source has and parameters of a wrong size; none then.
  static std::optional<Session> create(const Module& module, const SessionOptions& options,
                                       Diagnostics& diagnostics);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// What an entry takes and gives, in order.
  std::span<const Port> inputs(std::size_t entry = 0) const;
  std::span<const Port> outputs(std::size_t entry = 0) const;
  std::size_t entry_count() const;

  /// One tensor per input, in order. None after reporting.
  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs, Diagnostics& diagnostics,
                                         const RunOptions& options = {});
  /// Empties every cache.
  void reset();
  /// Bytes of parameters that were made and are in memory now.
  std::uint64_t made_weight_bytes() const;
  /// What stays in memory between runs.
  SessionMemory memory() const;
  /// Tokens the cache of this name (without `@`) holds; none when no step uses such a cache.
  std::optional<std::int64_t> cache_length(std::string_view name) const;
  /// The symbols that the caches would bind in a run of this entry now.
  DimBindings cache_bindings(std::size_t entry = 0) const;

 private:
  friend class SessionAccess;
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir
