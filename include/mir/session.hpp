// Running a module: ports, inputs, outputs, and the session.
#pragma once

#include <cstddef>
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
#include "mir/tensor.hpp"
#include "mir/type.hpp"
#include "mir/weights.hpp"

namespace mir {

// Inputs and outputs by name or position, and the tensors a command line gives for them.

class IRContext;
class Module;
class Session;
struct TensorSpec;

/// An input or output of what runs.
struct Port {
  std::string name;                  ///< symbol or name in the text without `%`
  const TensorType* type = nullptr;  ///< null: none is stated
};

/// The port that `target` means: a name, `%` and an id, or a position. Nothing means the only port.
Result<std::size_t> find_port(std::span<const Port> ports, std::string_view target,
                              std::string_view what);

/// `S=16` as a symbol (with or without `$`) and its value.
Result<void> add_binding(DimBindings& bindings, IRContext& context, std::string_view text);
/// The symbols of extents that occur in the module, without `$`.
std::vector<std::string> extent_symbols(const Module& module);
/// The error names a symbol that occurs nowhere in the module.
Result<void> check_bindings(const DimBindings& bindings, const Module& module);

/// Arguments for the inputs that no other argument names; theirs are other files.
struct InputDefaults {
  std::span<const std::string> arguments{};
  FileOpener files{};
  /// Returns an extent for each `?` of a generated input. Null refuses these inputs.
  std::function<std::int64_t()> unknown_extent{};
};

/// The inputs of the session's first entry from arguments `[NAME|%id|POS=]SPEC`, in order, where
/// `*=SPEC` is for each input that no other argument names. Every input needs one. Extents are
/// those of the declared type under `dims`; random integers lie below the extent that they index,
/// or below 2. Files are looked for in `files`.
Result<std::vector<Tensor>> load_inputs(const Session& session,
                                        std::span<const std::string> arguments,
                                        const DimBindings& dims, const FileOpener& files = {},
                                        const InputDefaults& defaults = {});

/// The expected value of output `port`.
struct Expectation {
  std::size_t port = 0;
  std::shared_ptr<const TensorSpec> spec;
};
/// Arguments `[NAME|%id|POS=]SPEC`, understood before anything runs.
Result<std::vector<Expectation>> parse_expectations(std::span<const Port> outputs,
                                                    std::span<const std::string> arguments,
                                                    const FileOpener& files = {});
/// The expected tensor. Files keep their element type; values stated otherwise take the type and
/// extents of `output`.
Result<Tensor> load_expected(std::span<const Port> outputs, const Expectation& expectation,
                             const Tensor& output);

/// A file for outputs.
struct OutputFile {
  std::string path;                 ///< ends in .npy or .npz
  std::optional<std::size_t> port;  ///< none: an archive of all of them
};
/// The port that an argument `[NAME|%id|POS=]PATH` names; no value if it names none.
std::optional<std::string_view> output_target(std::string_view argument);
/// Such arguments, understood before anything runs.
Result<std::vector<OutputFile>> parse_output_files(std::span<const Port> outputs,
                                                   std::span<const std::string> arguments);
/// One tensor for each port. Further ports of one name are members `NAME.1`, `NAME.2` of an
/// archive.
Result<void> write_outputs(std::span<const Port> outputs, std::span<const OutputFile> files,
                           std::span<const Tensor> tensors);

// Running a portable module.

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
  /// Fast kernels compute groups of ops in a graph.FusedOp as one; fuse() (mir/fusion.hpp) makes
  /// them. Runs that are observed compute each op alone.
  bool fuses = true;
  /// In which type fast kernels of Linear take activations and weights of floats.
  Activations activations = Activations::kFloat32;
  /// The highest instruction set that fast kernels use. No value: the best one of the machine.
  std::optional<IsaLevel> isa = std::nullopt;
  /// Threads that pack weights for fast kernels and compute with them; the number never changes a
  /// bit of the results. Fewer than that are one warning. Reference kernels use one.
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
  /// Computes the hashes of all weights and of the packed cache. Otherwise files whose size, inode
  /// and times are those that the cache states count as unchanged.
  bool checks_packed_cache = false;
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
  /// The entry to run: 0 for `entry`, then `further_entries` in order.
  std::size_t entry = 0;
  /// Values of dimension symbols stated by the caller; inputs must agree with them. Those of other
  /// modules do no harm: see check_bindings.
  DimBindings dims;
  /// Runs that need more bytes than this besides the parameters are refused, as far as types tell;
  /// 0: no limit.
  std::uint64_t memory_limit = 0;
  /// No run follows: parameters that were made are released after their last reader.
  bool is_last = false;
  /// Looked at before each step and in each iteration of a loop; a stopped run reports kCancelled.
  std::stop_token stop;
  /// Most iterations of all loops of the run together; no value: no limit.
  std::optional<std::uint64_t> most_iterations{};
  /// Seed for the order in which reference kernels run iterations of parallel loops; 0: as written.
  std::uint64_t parallel_order = 0;
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
/// with fast kernels on one instruction set and with the same fused ops.
class Session {
 public:
  /// Takes a verified portable module, which must outlive the session. Reports ops that cannot be
  /// executed, parameters that no source has and parameters of a wrong size; none then.
  static std::optional<Session> create(const Module& module, const SessionOptions& options,
                                       Diagnostics& diagnostics);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Inputs and outputs of an entry, in order.
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
  /// Memory that is kept between runs.
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
