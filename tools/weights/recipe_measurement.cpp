// Measures how types of weights change the outputs of a module.
#include "recipe_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "conversion.hpp"
#include "mir/codes/runs.hpp"
#include "mir/fusion.hpp"
#include "mir/rewriter.hpp"
#include "parameters.hpp"
#include "weights/elements.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kPass = "quantize-weights";

Error first_error(const Diagnostics& found) {
  for (const Diagnostic& each : found.sorted()) {
    if (each.severity == Severity::kError) return {each.code, each.message};
  }
  return {diag::kNotExecutable, "the module cannot run"};
}

bool is_compared(const Tensor& tensor) {
  return is_real(storage_type(tensor.dtype()));
}

bool has_finite_numbers(const Tensor& tensor) {
  if (!is_compared(tensor)) return false;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (std::isfinite(element_as_double(tensor, i))) return true;
  }
  return false;
}

constexpr Tolerance kOnlyFigures{.judges_elements = false};

/// The figure, not defined if the comparison fails without regard to figures.
Figure judged(const Comparison& comparison, const Figure& figure) {
  if (comparison.passed()) return figure;
  return {0, "NaN or infinite on one side"};
}

/// The one that is not defined, or the smaller one.
Figure least(const Figure& a, const Figure& b) {
  if (!a.is_defined() || !b.is_defined()) return a.is_defined() ? b : a;
  return a.value <= b.value ? a : b;
}

/// A sum after one more of `count` parts of a mean.
Figure with_part(const Figure& sum, const Figure& part, std::size_t count) {
  if (!sum.is_defined() || !part.is_defined()) return sum.is_defined() ? part : sum;
  return {sum.value + part.value / static_cast<double>(count)};
}

/// The word by which an option names the type.
std::string word_of(DType dtype) {
  for (const TargetType& each : target_types()) {
    if (each.dtype == dtype) return std::string(each.word);
  }
  return std::string(name_of(dtype));
}

}  // namespace

RecipeMeasurement::RecipeMeasurement(const Module& module, const WeightSet& weights,
                                     const MeasurementInputs& how, ScratchFolder folder)
    : module_(module),
      fused_(clone(module)),
      weights_(weights),
      how_(how),
      passes_(std::make_unique<PassRegistry>()),
      folder_(std::move(folder)) {
  register_standard_passes(*passes_);
}

Result<RecipeMeasurement> RecipeMeasurement::create(const Module& module, const WeightSet& weights,
                                                    const MeasurementInputs& how) {
  auto folder = ScratchFolder::create("mllm-weights-");
  if (!folder) return std::move(folder).error();
  RecipeMeasurement made(module, weights, how, *std::move(folder));
  for (const std::string& text : how.bindings) {
    if (auto bound = add_binding(made.dims_, module.context(), text); !bound) {
      return std::move(bound).error();
    }
  }
  if (auto known = check_bindings(made.dims_, module); !known) return std::move(known).error();
  auto session = made.session_of(*made.fused_, weights);
  if (!session) return std::move(session).error();
  for (std::size_t number = 0; number < how.inputs.size(); ++number) {
    if (auto loaded = made.load(*session, number); !loaded) return std::move(loaded).error();
    auto outputs = made.outputs_of(*session, made.runs_.back());
    if (!outputs) return std::move(outputs).error();
    if (std::ranges::none_of(*outputs, has_finite_numbers)) {
      return Error{diag::kNotExecutable,
                   "the outputs of the module as it is have no finite numbers to compare"};
    }
    made.runs_.back().expected = *std::move(outputs);
  }
  session->reset();
  made.session_.emplace(*std::move(session));
  return made;
}

/// Adds the tensors of a run.
Result<void> RecipeMeasurement::load(const Session& session, std::size_t number) {
  MeasuredRun run;
  auto inputs = load_inputs(session, how_.inputs[number], dims_);
  if (!inputs) return std::move(inputs).error();
  run.inputs = *std::move(inputs);
  if (!how_.prefills.empty()) {
    auto prefill = load_inputs(session, how_.prefills[number], {});
    if (!prefill) return std::move(prefill).error();
    run.prefill = *std::move(prefill);
  }
  runs_.push_back(std::move(run));
  return {};
}

/// The outputs of a run that begins with empty caches.
Result<std::vector<Tensor>> RecipeMeasurement::outputs_of(Session& session,
                                                          const MeasuredRun& run) const {
  session.reset();
  Diagnostics found(1);
  if (!how_.prefills.empty() && !session.run(run.prefill, found)) return first_error(found);
  RunOptions how_to_run;
  how_to_run.dims = dims_;
  auto outputs = session.run(run.inputs, found, how_to_run);
  if (!outputs) return first_error(found);
  return *std::move(outputs);
}

Pipeline RecipeMeasurement::pipeline_of(const Recipe& recipe) const {
  const Pass* pass = passes_->find(kPass);
  PipelineItem item{.pass = pass, .options = PassOptions(pass->options)};
  for (const auto& [name, dtype] : recipe) {
    // The one option takes each name once, and a recipe has it once.
    [[maybe_unused]] const bool is_taken = item.options.take(0, word_of(dtype), name).ok();
    assert(is_taken);
  }
  Pipeline pipeline;
  pipeline.items.push_back(std::move(item));
  return pipeline;
}

std::string RecipeMeasurement::pipeline(const Recipe& recipe) const {
  return spelling(pipeline_of(recipe));
}

Result<std::unique_ptr<Module>> RecipeMeasurement::converted(const Pipeline& pipeline) const {
  auto copy = clone(module_);
  Diagnostics found(1);
  if (!run_pipeline(*copy, pipeline, {}, found)) return first_error(found);
  return copy;
}

Result<Session> RecipeMeasurement::session_of(Module& module, const WeightSet& weights) const {
  Diagnostics found(1);
  if (how_.kernels == KernelSet::kFast && !fuse(module, Fusion::kAll, *passes_, {}, found)) {
    return first_error(found);
  }
  SessionOptions options;
  options.weights = &weights;
  options.kernels = how_.kernels;
  options.threads = how_.threads;
  if (session_) options.share_parameters = &*session_;
  auto session = Session::create(module, options, found);
  if (!session) return first_error(found);
  return *std::move(session);
}

Result<std::vector<Layer>> RecipeMeasurement::layers(std::span<const DType> types) const {
  auto original = clone(module_);
  const auto before = parameters_of(*original);
  std::vector<Layer> layers;
  for (const auto& [name, parameter] : before) {
    const TensorType* type = parameter.type;
    if (type == nullptr || !type->dtype() || !type->has_static_shape()) continue;
    Layer& layer = layers.emplace_back(Layer{name, *type->dtype(), {}, {}});
    for (const Dim extent : type->dims()) layer.shape.push_back(extent.constant());
  }
  for (const DType dtype : types) {
    auto changed = converted(pipeline_of({{"*", dtype}}));
    if (!changed) return std::move(changed).error();
    const auto after = parameters_of(**changed);
    for (Layer& layer : layers) {
      const auto found = after.find(layer.name);
      const bool is_taken = found != after.end() && found->second.type->dtype() == dtype;
      if (is_taken && dtype != layer.dtype) layer.types.push_back(dtype);
    }
  }
  std::erase_if(layers, [](const Layer& layer) { return layer.types.empty(); });
  return layers;
}

Result<Tensor> RecipeMeasurement::original(const Layer& layer) const {
  auto found = weights_.find(
      {.name = layer.name, .dtype = layer.dtype, .shape = layer.shape, .convert_floats = true});
  if (!found) return std::move(found).error();
  if (!*found) {
    return Error{diag::kParameterMissing, fmt::format("no file has parameter '@{}'", layer.name)};
  }
  return **std::move(found);
}

Result<ResultChange> RecipeMeasurement::measure(const Recipe& recipe) const {
  if (recipe.empty()) return ResultChange{};
  auto module = converted(pipeline_of(recipe));
  if (!module) return std::move(module).error();
  std::vector<TensorPlan> plans;
  for (const auto& [name, parameter] : parameters_of(**module)) {
    const auto wanted = recipe.find(name);
    if (wanted == recipe.end()) continue;
    Layer layer{name,
                *module_.lookup_value(module_.context().intern(name))->tensor_type()->dtype(),
                {},
                {}};
    for (const Dim extent : parameter.type->dims()) layer.shape.push_back(extent.constant());
    const DType dtype = wanted->second;
    plans.push_back({name, dtype, layer.shape, [this, layer, dtype]() -> Result<Tensor> {
                       const auto tensor = original(layer);
                       if (!tensor) return tensor;
                       auto converted = convert_values(*tensor, dtype);
                       if (!converted) return std::move(converted).error();
                       return std::move(converted->tensor);
                     }});
  }
  const std::string path = folder_.path() + "/weights.mllm";
  if (auto written = write_tensors(path, TensorFormat::kMllm2, plans); !written) {
    return std::move(written).error();
  }
  WeightSet weights = weights_;
  if (auto added = weights.add(path); !added) return std::move(added).error();
  auto session = session_of(**module, weights);
  if (!session) return std::move(session).error();
  ResultChange change{.mean_cosine = {0}, .mean_agreement = {0}};
  for (const MeasuredRun& run : runs_) {
    const auto outputs = outputs_of(*session, run);
    if (!outputs) return outputs.error();
    Figure cosine, agreement;
    for (std::size_t i = 0; i < run.expected.size(); ++i) {
      if (!is_compared(run.expected[i])) continue;
      const auto compared = compare_tensors(run.expected[i], (*outputs)[i], kOnlyFigures);
      if (!compared) return compared.error();
      cosine = least(cosine, judged(*compared, compared->cosine));
      agreement = least(agreement, judged(*compared, compared->top_agreement));
    }
    change.cosine = least(change.cosine, cosine);
    change.agreement = least(change.agreement, agreement);
    change.mean_cosine = with_part(change.mean_cosine, cosine, runs_.size());
    change.mean_agreement = with_part(change.mean_agreement, agreement, runs_.size());
  }
  return change;
}

}  // namespace mir::tools
