// Reads the pipeline of mllm-opt and refuses options that have no effect on it.
#include "tools/opt/read_pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "input_names.hpp"
#include "mir/codes/usage.hpp"
#include "pipelines.hpp"

namespace mir::tools {

namespace {

/// Adds the passes of the items.
void add_names(InputNames& names, std::span<const PipelineItem> items) {
  for (const PipelineItem& item : items) {
    if (item.pass != nullptr) names.add(ReferenceKind::kPass, item.pass->name);
    add_names(names, item.items);
  }
}

/// True if a pass of the items applies the patterns of another one: `convert{patterns=NAME}`.
bool applies(std::span<const PipelineItem> items, std::string_view name) {
  constexpr std::string_view kPatterns = "patterns";
  return std::ranges::any_of(items, [&](const PipelineItem& item) {
    if (item.pass == nullptr) return applies(item.items, name);
    if (!item.options.find(kPatterns)) return false;
    const auto names = item.options.texts(kPatterns);
    return std::ranges::find(names, name) != names.end();
  });
}

/// Refuses options without effect: patterns that no pass applies, conditions of rows that the
/// pipeline decides, and a loss report of several texts.
Result<void> check_effects(const Run& run, const OptSettings& settings, const InputNames& names,
                           const Pipeline& pipeline) {
  const auto has_pass = [&](std::string_view name) {
    return names.has(ReferenceKind::kPass, name);
  };
  const auto patterns = settings.patterns.files.passes();
  const auto is_applied = [&](std::string_view name) {
    return has_pass(name) || applies(pipeline.items, name);
  };
  if (!patterns.empty() && std::ranges::none_of(patterns, is_applied)) {
    return Error{diag::kUsage, fmt::format("--patterns: the pipeline has none of the passes {}",
                                           fmt::join(patterns, ", "))};
  }
  for (const OptionRow* row : {&settings.loss_report, &settings.write_sidecar}) {
    if (row->is_given() && run.files().size() > 1)
      return Error{diag::kUsage, fmt::format("--{} takes one file", row->name())};
  }
  const bool is_csv = *settings.format == TableFormat::kCsv;
  if (is_csv && (settings.timing || settings.statistics))
    return Error{diag::kUsage, "--timing and --statistics are printed as table or json"};
  return settings.options.check_conditions(has_pass);
}

/// Takes the facts that the options grant to conversions.
Result<void> take_grants(OptSettings& settings, const InputNames& names) {
  settings.reads_facts = settings.options.has_effect(
      settings.facts.assume,
      [&](std::string_view pass) { return names.has(ReferenceKind::kPass, pass); });
  auto granted = read_grants(settings.facts);
  if (!granted) return std::move(granted).error();
  settings.conversion.granted = *std::move(granted);
  settings.conversion.generation = *settings.generation;
  return {};
}

}  // namespace

std::optional<Pipeline> read_pipeline(const Run& run, OptSettings& settings, ExitCode& code) {
  code = settings.patterns.files.report(run);
  if (code != ExitCode::kSuccess) return std::nullopt;
  SourceManager sources;
  Diagnostics problems = run.diagnostics();
  auto pipeline = read_pipelines(settings.passes, settings.patterns.files.passes(),
                                 settings.known.registry, sources, problems);
  if (!pipeline) {
    code = run.report(problems, sources);
    return std::nullopt;
  }
  if (settings.print_pipeline) return pipeline;
  InputNames names("the pipeline");
  names.mention(ReferenceKind::kPass);
  add_names(names, pipeline->items);
  if (const auto known = names.check(settings.options); !known) {
    code = run.report(known.error());
    return std::nullopt;
  }
  auto fits = check_effects(run, settings, names, *pipeline);
  if (fits) fits = take_grants(settings, names);
  if (fits) return pipeline;
  code = run.refuse(fits.error());
  return std::nullopt;
}

}  // namespace mir::tools
