// mllm-opt: runs passes over modules and writes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "input_names.hpp"
#include "mir/pass.hpp"
#include "pipelines.hpp"
#include "tool.hpp"
#include "tools/opt/option_readers.hpp"
#include "tools/opt/pass_pages.hpp"
#include "tools/opt/settings.hpp"
#include "tools/opt/transformation.hpp"
#include "tools/opt/validate_files.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kTool = {
    .name = "mllm-opt",
    .summary = "Runs passes over the modules of files and writes the results.",
    .operands = "[file...]",
    .examples = {{{"mllm-opt -p upgrade --assume=rms_eps=1e-6 dump.mir -o model.mir",
                   "make a dump portable"},
                  {"mllm-opt -p lift-program,eliminate-debug dump.mir",
                   "lift a lowered dump to graphs"}}},
    .topics = &kPassTopics,
};

/// A loss report describes one text.
Result<void> refuse_several(const Run& run, const OptSettings& settings) {
  const bool several = run.files().size() > 1 || settings.split_input_file;
  if (!several || !settings.loss_report.is_given()) return {};
  return Error{DiagCode::kUsage, "--loss-report takes one file, without --split-input-file"};
}

/// Adds the passes of the items.
void add_names(InputNames& names, std::span<const PipelineItem> items) {
  for (const PipelineItem& item : items) {
    if (item.pass != nullptr) names.add(ReferenceKind::kPass, item.pass->name);
    add_names(names, item.items);
  }
}

/// A file of patterns is for the pipeline.
Result<void> refuse_unused_patterns(const OptSettings& settings, const InputNames& names) {
  const auto passes = settings.patterns.files.passes();
  const auto is_used = [&](const std::string& name) {
    return names.has(ReferenceKind::kPass, name);
  };
  if (passes.empty() || std::ranges::any_of(passes, is_used)) return {};
  return Error{DiagCode::kUsage, fmt::format("--patterns: the pipeline has none of the passes {}",
                                             fmt::join(passes, ", "))};
}

/// Refuses options that no pass of the pipeline reads.
Result<void> refuse_unread(const OptSettings& settings, const InputNames& names) {
  for (const OptionRow* row : settings.options.rows()) {
    const auto readers = readers_of(settings, *row);
    const bool is_fact = row == &settings.facts.assume || row == &settings.sidecars.sidecar;
    const bool is_read = (is_fact && settings.emit->is_symbols) ||  // which upgrades copies
                         std::ranges::any_of(readers, [&](std::string_view pass) {
                           return names.has(ReferenceKind::kPass, pass);
                         });
    if (readers.empty() || is_read || !row->is_given()) continue;
    return Error{DiagCode::kUsage, fmt::format("--{} has no effect without the pass '{}'",
                                               row->name(), readers.front())};
  }
  return {};
}

/// Refuses options of a trial without patterns to try.
Result<void> refuse_without_trial(const OptSettings& settings) {
  const bool tries_patterns = settings.validate_patterns.is_given();
  const bool tries = tries_patterns || settings.validate.is_given();
  const auto refuse = [](const OptionRow& row, std::string_view needs) {
    return Error{DiagCode::kUsage, fmt::format("--{} has no effect without {}", row.name(), needs)};
  };
  if (settings.seed.is_given() && !tries) return refuse(settings.seed, "--validate");
  if (settings.counterexamples.is_given() && !tries) {
    return refuse(settings.counterexamples, "--validate");
  }
  if (settings.bound.is_given() && (tries_patterns || !tries)) {
    return refuse(settings.bound, "--validate of passes");
  }
  return {};
}

/// Refuses options that --emit does not use.
Result<void> refuse_beside_emit(const OptSettings& settings) {
  if (settings.emit->is_symbols && settings.loss_report.is_given()) {
    return Error{DiagCode::kUsage, "--loss-report has no effect with --emit=symbolic-dims"};
  }
  if (*settings.emit != OptForm() && settings.target.version.is_given()) {
    return Error{DiagCode::kUsage, "--target-version has no effect with --emit of a report"};
  }
  const OptionRow* rows[] = {&settings.peak_flops, &settings.bandwidth};
  for (const OptionRow* row : rows) {
    if (settings.emit->is_cost || !row->is_given()) continue;
    return Error{DiagCode::kUsage,
                 fmt::format("--{} has no effect without --emit=cost", row->name())};
  }
  return {};
}

/// Takes the facts that the options grant to conversions.
Result<void> take_grants(OptSettings& settings) {
  auto granted = read_grants(settings.facts, *settings.sidecars.sidecar);
  if (!granted) return std::move(granted).error();
  settings.conversion.granted = *std::move(granted);
  settings.conversion.generation = *settings.generation;
  return {};
}

ExitCode body(const Run& run, OptSettings& settings) {
  if (settings.list_passes) return run.write_output(list_passes(settings.known.registry));
  if (settings.list_passes_markdown) return run.write_output(passes_page(settings.known.registry));
  if (const auto one = refuse_several(run, settings); !one) return run.refuse(one.error());

  if (const auto tried = refuse_without_trial(settings); !tried) return run.refuse(tried.error());
  if (const auto cost = refuse_beside_emit(settings); !cost) return run.refuse(cost.error());
  if (settings.validate_patterns.is_given()) return validate_files(run, settings);
  if (const ExitCode read = settings.patterns.files.report(run); read != ExitCode::kSuccess) {
    return read;
  }
  SourceManager pipelines;
  Diagnostics problems = run.diagnostics();
  const std::optional<Pipeline> pipeline =
      read_pipelines(settings.passes, settings.patterns.files.passes(), settings.known.registry,
                     pipelines, problems);
  if (!pipeline) return run.report(problems, pipelines);
  if (settings.print_pipeline) return run.write_output(spelling(*pipeline) + '\n');
  InputNames names("the pipeline");
  names.mention(ReferenceKind::kPass);
  add_names(names, pipeline->items);
  if (const auto known = names.check(settings.options); !known) return run.report(known.error());
  if (const auto used = refuse_unused_patterns(settings, names); !used) {
    return run.refuse(used.error());
  }
  if (const auto read = refuse_unread(settings, names); !read) return run.refuse(read.error());
  if (const auto taken = take_grants(settings); !taken) return run.refuse(taken.error());

  Transformation transformation(run, settings, *pipeline);
  if (const auto ready = transformation.prepare(); !ready) return run.report(ready.error());
  for (const std::string& path : run.files()) transformation.transform_file(path);
  return transformation.write();
}

}  // namespace

const Tool mir::tools::kMllmOpt = {
    &kTool, [](int argc, char** argv) { return run_tool(kTool, argc, argv, body); }};
