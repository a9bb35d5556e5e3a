// The command `mllm-weights plan`: measures types of weights and writes a recipe.
#include "plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input_sets.hpp"
#include "ir/ports.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/usage.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"
#include "module_names.hpp"
#include "plan/schedule.hpp"
#include "progress.hpp"
#include "recipe_plan.hpp"
#include "report_text.hpp"
#include "support/file_io.hpp"
#include "support/platform/threads.hpp"

namespace mir::tools {

namespace {

RecipeBounds bounds_of(const WeightsSettings& settings) {
  return {.most_bytes = settings.budget.if_given(),
          .least_cosine = settings.min_cosine.if_given(),
          .least_agreement = settings.min_top1.if_given()};
}

/// The inputs and symbols that options can name.
InputNames names_of(const Module& module) {
  InputNames names(fmt::format("module '@{}'", module.context().text(module.name())));
  names.mention(ReferenceKind::kInput);
  names.mention(ReferenceKind::kSymbol);
  const ValueRange inputs = module.body().entry_arguments();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.add(ReferenceKind::kInput, name_text(module.body().input_port(i), module.context()));
  }
  names.add_positions(ReferenceKind::kInput, inputs.size());
  for (const std::string& symbol : extent_symbols(module)) {
    names.add(ReferenceKind::kSymbol, symbol);
  }
  return names;
}

/// The layers that --layers selects.
Result<std::vector<Layer>> chosen_layers(const Run& run, const RecipeMeasurement& measurement,
                                         const WeightsSettings& settings) {
  constexpr DType kTypes[] = {DType::kGgufQ8_0, DType::kGgufQ4K, DType::kGgufQ4_0};
  const bool has_own = settings.candidate.is_given();
  auto layers = measurement.layers(has_own ? std::span<const DType>(*settings.candidate) : kTypes);
  if (!layers) return layers;
  InputNames names(fmt::format("'{}'", run.operands().front()));
  names.mention(ReferenceKind::kTensor);
  for (const Layer& layer : *layers) names.add(ReferenceKind::kTensor, layer.name);
  if (auto known = names.check(settings.options); !known) return std::move(known).error();
  const std::vector<NamePattern> patterns(settings.layers->begin(), settings.layers->end());
  std::erase_if(*layers, [&](const Layer& layer) {
    return !patterns.empty() && std::ranges::none_of(patterns, [&](const NamePattern& pattern) {
      return pattern.matches(layer.name);
    });
  });
  return layers;
}

/// Measures, chooses, and writes the recipe; returns the report.
Result<std::string> plan_types(const Run& run, const Module& module, const WeightSet& weights,
                               const WeightsSettings& settings, TableFormat format) {
  if (auto known = names_of(module).check(settings.options); !known)
    return std::move(known).error();
  const bool is_ref = *settings.kernels == PlanKernels::kRef;
  auto inputs = input_sets(*settings.input);
  if (!inputs) return std::move(inputs).error();
  auto prefills = input_sets(*settings.prefill);
  if (!prefills) return std::move(prefills).error();
  if (!settings.prefill.is_given()) prefills->clear();
  // One prefill is that of all runs, and the other way round.
  if (prefills->size() == 1) prefills->resize(inputs->size(), prefills->front());
  if (inputs->size() == 1 && !prefills->empty()) inputs->resize(prefills->size(), inputs->front());
  if (!prefills->empty() && prefills->size() != inputs->size()) {
    return Error{diag::kUsage,
                 fmt::format("--prefill states {} runs and --input {}: expected 1 or {}",
                             prefills->size(), inputs->size(), inputs->size())};
  }
  auto measurement =
      RecipeMeasurement::create(module, weights,
                                {.inputs = *std::move(inputs),
                                 .prefills = *std::move(prefills),
                                 .bindings = {settings.bind->begin(), settings.bind->end()},
                                 .kernels = is_ref ? KernelSet::kRef : KernelSet::kFast,
                                 .threads = is_ref ? 1 : processor_count()});
  if (!measurement) return std::move(measurement).error();
  auto layers = chosen_layers(run, *measurement, settings);
  if (!layers) return std::move(layers).error();
  const auto plan =
      plan_recipe(*measurement, *std::move(layers), bounds_of(settings), count_progress());
  if (!plan) return plan.error();
  if (settings.recipe.is_given()) {
    const auto written = write_file_atomically(*settings.recipe, plan->pipeline + '\n');
    if (!written) return written.error();
  }
  return render(*plan, format);
}

}  // namespace

ExitCode plan_command(const Run& run, const WeightsSettings& settings) {
  const auto format = settings.plan_format();
  if (!format) return run.usage_error(format.error().message);
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const auto source = read_source(run.operands().front(), context.sources());
  if (!source) return run.report(source.error());
  const auto modules = read_modules(**source, context, diagnostics);
  if (diagnostics.has_errors()) return run.report(diagnostics, context.sources());
  const auto module = choose_module(modules, settings.module, (*source)->name());
  if (!module) return run.report(module.error());
  if (!(*module)->is_portable()) {
    diagnostics.error(diag::kNotExecutable, (*module)->top()->span(),
                      "the module is a dump; mllm-opt -p upgrade makes it portable");
  }
  if (diagnostics.has_errors() || !verify(**module, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  WeightSet weights;
  for (const std::string& path : std::span(run.operands()).subspan(1)) {
    if (const auto added = weights.add(path); !added) return run.report(added.error());
  }
  const auto text = plan_types(run, **module, weights, settings, *format);
  if (!text) return run.report(text.error());
  if (*format == TableFormat::kTable) {
    print_report(std::string_view(*text));
  } else {
    print_document(*text);
  }
  return run.report(diagnostics, context.sources());
}

}  // namespace mir::tools
