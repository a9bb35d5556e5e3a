// Measured effects of types of weights on the results of a module.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mir/pass.hpp"
#include "mir/session.hpp"
#include "support/platform/scratch_folder.hpp"

namespace mir::tools {

/// New types of parameters, by name.
using Recipe = std::map<std::string, DType>;

/// The results of the runs compared with those of the module as it is. A number is not defined if
/// one output of one run does not define it: compare_tensors() tells which do. Elements that are
/// NaN or infinite on one side only leave all of them undefined.
struct ResultChange {
  Figure cosine{};     ///< the least of all outputs of real numbers and all runs
  Figure agreement{};  ///< the least share of last rows with the same largest element
  // Means of all runs, of the least values of each.
  Figure mean_cosine{};
  Figure mean_agreement{};
};

struct MeasurementInputs {
  /// `[PORT=]SPEC` of each run.
  std::vector<std::vector<std::string>> inputs;
  /// `[PORT=]SPEC` of runs before them, which fill the caches; empty, or as many. Their symbols are
  /// bound by the extents of files.
  std::vector<std::vector<std::string>> prefills{};
  std::vector<std::string> bindings;  ///< `S=4`
  KernelSet kernels = KernelSet::kFast;
  unsigned threads = 1;
};

/// A parameter that can have other types.
struct Layer {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<DType> types;  ///< that the ops that read it take, in the order asked for
};

/// A module on given inputs. The module and the weights must outlive it.
class RecipeMeasurement {
 public:
  /// Number of runs that are compared.
  std::size_t run_count() const { return runs_.size(); }
  /// Runs the module as it is. Fails if it does not run, or if no output of a run has finite
  /// numbers.
  static Result<RecipeMeasurement> create(const Module& module, const WeightSet& weights,
                                          const MeasurementInputs& how);

  /// Parameters that quantize-weights gives one of the types, in the order of their names.
  Result<std::vector<Layer>> layers(std::span<const DType> types) const;
  /// The original numbers of a layer.
  Result<Tensor> original(const Layer& layer) const;
  /// Runs the module with these types, and with weights that are converted to them.
  Result<ResultChange> measure(const Recipe& recipe) const;
  /// The pass with which mllm-opt applies the recipe.
  std::string pipeline(const Recipe& recipe) const;

 private:
  RecipeMeasurement(const Module& module, const WeightSet& weights, const MeasurementInputs& how,
                    ScratchFolder folder);

  Pipeline pipeline_of(const Recipe& recipe) const;
  Result<std::unique_ptr<Module>> converted(const Pipeline& pipeline) const;
  /// Fuses ops of the module before.
  Result<Session> session_of(Module& module, const WeightSet& weights) const;
  /// One run, and what the module as it is computes.
  struct MeasuredRun {
    std::vector<Tensor> prefill;  ///< inputs of the run before it; none without one
    std::vector<Tensor> inputs;
    std::vector<Tensor> expected;
  };
  Result<void> load(const Session& session, std::size_t number);
  Result<std::vector<Tensor>> outputs_of(Session& session, const MeasuredRun& run) const;

  const Module& module_;
  std::unique_ptr<Module> fused_;  ///< a copy, which `session_` runs
  const WeightSet& weights_;
  MeasurementInputs how_;
  std::unique_ptr<PassRegistry> passes_;
  ScratchFolder folder_;
  DimBindings dims_;
  std::optional<Session> session_;
  std::vector<MeasuredRun> runs_;
};

}  // namespace mir::tools
