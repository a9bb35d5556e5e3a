// mllm-opt: runs passes over modules and writes them.
#include <fmt/format.h>

#include <algorithm>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "standard_error.hpp"
#include "support/atomic_file.hpp"
#include "support/expectation.hpp"
#include "support/file_io.hpp"
#include "tool.hpp"
#include "tools/opt/pass_pages.hpp"
#include "tools/opt/reproducer.hpp"
#include "tools/opt/settings.hpp"
#include "tools/opt/watch_passes.hpp"
#include "upgrade/settle_text.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kTool = {
    .name = "mllm-opt",
    .summary = "Runs passes over the modules of files and writes them.",
    .operands = "[file...]",
    .examples = {{{"mllm-opt -p upgrade --assume=rms_eps=1e-6 dump.mir -o model.mir",
                   "make a dump portable"},
                  {"mllm-opt -p lift-program,eliminate-debug dump.mir",
                   "show the graphs of a lowered dump"}}},
    .topics = &kPassTopics,
};

// -- one module -----------------------------------------------------------------------------------

/// What is the same for all texts of a run.
struct Job {
  const Run& run;
  OptSettings& settings;
  const Pipeline& pipeline;
  Verification verification;
  PassPrinter printer{settings};
  PassDumper dumper{*settings.dump_dir};
  PassRecord record{};
  RewriteWatch rewrites{};
  Reproducer reproducer{settings};
};

/// Whether a module may be worked on. What every dump has is no news here: only errors are shown.
bool check(const Module& module, const Verification& verification, Diagnostics& diagnostics) {
  if (!module.is_portable()) {
    Diagnostics found(0);
    if (verification.accepts(module, found)) return true;
  }
  return verification.accepts(module, diagnostics);
}

/// Runs the pipeline on one module. Returns false after reporting.
bool transform(Job& job, Module& module, Diagnostics& diagnostics) {
  const OptSettings& settings = job.settings;
  PipelineRun how{
      .threads = *settings.threads,
      .verify = [&](Module& each,
                    Diagnostics& found) { return check(each, job.verification, found); },
      .verifies_each = *settings.verify_each};
  how.observers = {&job.record, &job.printer};
  if (settings.dump_dir.is_given()) how.observers.push_back(&job.dumper);
  if (settings.reproducer.is_given()) how.observers.push_back(&job.reproducer);
  if (settings.rewrite_limit.is_given() || settings.trace_rewrites) how.rewrites = &job.rewrites;
  return run_pipeline(module, job.pipeline, how, diagnostics);
}

/// Works on each module that was asked for; false when one is refused.
bool transform_all(Job& job, std::span<Module* const> modules, Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) {
    job.verification.look_further(modules, diagnostics);
    return false;
  }
  const std::string& name = *job.settings.module;
  return std::ranges::all_of(modules, [&](Module* module) {
    const bool is_wanted = name.empty() || module->context().text(module->name()) == name;
    if (!is_wanted) return true;
    return transform(job, *module, diagnostics);
  });
}

// -- texts ----------------------------------------------------------------------------------------

ExitCode write_losses(const Job& job, const IRContext& context) {
  const std::string& path = *job.settings.loss_report;
  if (path.empty()) return ExitCode::kSuccess;
  const LossReport& losses = job.settings.known.conversions.losses;
  const bool json = path.ends_with(".json");
  const auto written =
      write_file_atomically(path, json ? loss_json(losses, context) : loss_text(losses, context));
  return written ? ExitCode::kSuccess : job.run.report(written.error());
}

/// What became of one text.
struct Outcome {
  ExitCode code = ExitCode::kSuccess;
  std::optional<std::string> text{};  ///< none: it was refused
};

ExitCode conclude(const Job& job, const SourceFile& file, const SourceManager& sources,
                  const Diagnostics& found) {
  if (!job.settings.verify_diagnostics) return job.run.report(found, sources);
  return job.run.report(check_expectations(file, sources, found), sources);
}

Outcome transform_text(Job& job, const SourceFile& given, IRContext& context) {
  constexpr std::size_t kMostCompared = 1000;
  Conversions& conversions = job.settings.known.conversions;
  conversions.losses = {};
  Diagnostics diagnostics =
      job.settings.verify_diagnostics ? Diagnostics(kMostCompared) : job.run.diagnostics();
  const SourceManager& sources = context.sources();
  const SourceFile* file =
      settle_texts(given, conversions.granted, context, conversions.losses, diagnostics);
  if (file == nullptr) return {conclude(job, given, sources, diagnostics)};
  const std::optional<SyntaxTree> tree = parse(*file, diagnostics);
  if (!tree) return {conclude(job, *file, sources, diagnostics)};
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  Outcome outcome;
  if (transform_all(job, modules, diagnostics)) outcome.text = print(modules, *tree);
  outcome.code = write_losses(job, context);
  outcome.code = worst(outcome.code, conclude(job, *file, sources, diagnostics));
  return outcome;
}

/// A file, or each part of it for itself.
ExitCode transform_file(Job& job, const std::string& path, std::vector<Outcome>& outcomes) {
  SourceManager whole;
  IRContext first;
  const bool split(job.settings.split_input_file);
  const auto file = read_source(path, split ? whole : first.sources());
  if (!file) {
    outcomes.push_back({job.run.report(file.error())});
    return outcomes.back().code;
  }
  if (!split) {
    register_builtin_dialects(first);
    outcomes.push_back(transform_text(job, **file, first));
    return outcomes.back().code;
  }
  ExitCode code = ExitCode::kSuccess;
  for (const InputPart& part : split_input((*file)->text())) {
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* text =
        context.sources().add((*file)->name(), std::string(part.text), part.first_line);
    outcomes.push_back(transform_text(job, *text, context));
    code = worst(code, outcomes.back().code);
  }
  return code;
}

/// The texts in their order, with lines between them at which --split-input-file takes them apart;
/// nothing when one of them was refused.
ExitCode write_texts(const Job& job, std::span<const Outcome> outcomes) {
  const bool is_complete =
      std::ranges::all_of(outcomes, [](const Outcome& each) { return each.text.has_value(); });
  if (!is_complete || job.settings.verify_diagnostics) return ExitCode::kSuccess;
  return job.run.write_output([&](const Run::Sink& sink) {
    bool is_first = true;
    for (const Outcome& each : outcomes) {
      if (!std::exchange(is_first, false)) sink("// -----\n");
      sink(*each.text);
    }
  });
}

void write_tables(const Job& job) {
  const TableForm times = *job.settings.timing, statistics = *job.settings.statistics;
  if (times != TableForm::kNone) write_error_text(job.record.times(times));
  if (statistics != TableForm::kNone) write_error_text(job.record.statistics(statistics));
}

// -- command line ---------------------------------------------------------------------------------

/// The pipelines of -p one after the other; a text that begins with `@` names a file.
std::optional<Pipeline> read_pipelines(const OptSettings& settings, SourceManager& sources,
                                       Diagnostics& diagnostics) {
  Pipeline all;
  for (const std::string& text : *settings.passes) {
    const bool is_file = text.starts_with('@');
    auto file = is_file ? read_source(text.substr(1), sources)
                        : Result<const SourceFile*>(sources.add("--passes", text));
    if (!file) {
      diagnostics.error(file.error().code, {}, file.error().message);
      return std::nullopt;
    }
    auto pipeline = settings.known.registry.read_pipeline(**file, diagnostics);
    if (!pipeline) return std::nullopt;
    std::ranges::move(pipeline->items, std::back_inserter(all.items));
  }
  return all;
}

void watch_rewrites(Job& job) {
  job.rewrites.limit = job.settings.rewrite_limit.if_given();
  if (!job.settings.trace_rewrites) return;
  job.rewrites.trace = [](std::uint64_t number, std::string_view pattern, std::string_view op) {
    write_error_text(fmt::format("rewrite {}: '{}' of {}\n", number, pattern, op));
  };
}

/// One report is written for one text.
Result<void> refuse_several(const Run& run, const OptSettings& settings) {
  const bool several = run.files().size() > 1 || settings.split_input_file;
  if (!several || !settings.loss_report.is_given()) return {};
  return Error{DiagCode::kUsage, "--loss-report is of one file, taken as a whole"};
}

ExitCode body(const Run& run, OptSettings& settings) {
  if (settings.list_passes) return run.write_output(list_passes(settings.known.registry));
  if (settings.list_passes_markdown) return run.write_output(passes_page());
  if (const auto one = refuse_several(run, settings); !one) return run.refuse(one.error());
  SourceManager pipelines;
  Diagnostics problems = run.diagnostics();
  const std::optional<Pipeline> pipeline = read_pipelines(settings, pipelines, problems);
  if (!pipeline) return run.report(problems, pipelines);
  if (settings.print_pipeline) return run.write_output(spelling(*pipeline) + '\n');
  auto granted = read_grants(settings.facts, *settings.sidecars.sidecar);
  if (!granted) return run.refuse(granted.error());
  settings.known.conversions.granted = *std::move(granted);
  settings.known.conversions.generation = *settings.generation;
  Job job{run, settings, *pipeline, Verification(settings.verification, run)};
  watch_rewrites(job);
  if (settings.dump_dir.is_given()) {
    if (const auto made = job.dumper.prepare(); !made) return run.report(made.error());
  }
  std::vector<Outcome> outcomes;
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) {
    code = worst(code, transform_file(job, path, outcomes));
  }
  write_tables(job);
  return worst(code, write_texts(job, outcomes));
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
