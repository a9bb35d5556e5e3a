// mllm-opt: runs passes over a module and writes it.
#include <fmt/format.h>

#include <algorithm>

#include "granted.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/resolve.hpp"
#include "mir/upgrade.hpp"
#include "support/atomic_file.hpp"
#include "support/file_io.hpp"
#include "tool.hpp"
#include "upgrade/settle_text.hpp"
#include "verification.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr Option kOptions[] = {
    {.name = "passes",
     .letter = 'p',
     .argument = "A,B",
     .help = "run these passes in this order; without it the module is only checked"},
    {.name = "list-passes", .help = "list every pass and stop"},
    kAssumeOption,
    kSidecarOption,
    kSymbolicDimOption,
    {.name = "loss-report",
     .argument = "FILE",
     .help = "write what a dump lost and what was used for it, as JSON where FILE ends in .json"},
    {.name = "generation",
     .argument = "WHEN",
     .help =
         "the version of upstream that downgrade spells: 2025-06 (kCPU, kFp32), 2025-07 (no names "
         "of ops), 2025-10 ([name=...]) or 2025-12 (<name=...>, notes on quantisation; default)",
     .choices = "2025-06 2025-07 2025-10 2025-12"},
    {.name = "print-after",
     .argument = "PASS",
     .help = "write the module to standard error behind this pass; all: behind each",
     .repeatable = true},
    {.name = "timing", .help = "write the time of each pass to standard error"},
    {.name = "module", .argument = "NAME", .help = "only the module @NAME of the file"},
};

constexpr ToolInfo kTool = {
    .name = "mllm-opt",
    .summary = "Runs passes over the modules of a file and writes them.",
    .operands = "[file]",
    .options = kOptions,
    .examples = {{{"mllm-opt -p upgrade --assume=rms_eps=1e-6 dump.mir -o model.mir",
                   "make a dump portable"},
                  {"mllm-opt -p lift-program,eliminate-debug dump.mir",
                   "show the graphs of a lowered dump"}}},
    .verifies = true,
};

std::string list_passes(const PassRegistry& registry) {
  std::string text;
  for (const Pass& pass : registry.passes())
    text += fmt::format("{:<26}{}\n", pass.name, pass.summary);
  return text;
}

bool is_wanted(const Arguments& arguments, std::string_view pass) {
  const auto wanted = arguments.values("print-after");
  return std::ranges::any_of(
      wanted, [&](const std::string& each) { return each == "all" || each == pass; });
}

ExitCode write_losses(const Run& run, const LossReport& losses, const IRContext& context) {
  const std::string path(run.arguments().value("loss-report"));
  if (path.empty()) return ExitCode::kSuccess;
  const bool json = path.ends_with(".json");
  const auto written =
      write_file_atomically(path, json ? loss_json(losses, context) : loss_text(losses, context));
  return written ? ExitCode::kSuccess : run.report(written.error());
}

/// Whether a module may be worked on. What every dump has is no news here: only errors are shown.
bool check(const Module& module, const Verification& verification, Diagnostics& diagnostics) {
  if (!module.is_portable()) {
    Diagnostics found(0);
    if (verification.accepts(module, found)) return true;
  }
  return verification.accepts(module, diagnostics);
}

/// Runs the pipeline over one module; false after reporting.
bool transform(const Run& run, const Verification& verification,
               std::span<const Pass* const> pipeline, Module& module, Diagnostics& diagnostics) {
  const Arguments& arguments = run.arguments();
  if (!pipeline.empty() && pipeline.front()->correct) {
    pipeline.front()->correct(module, diagnostics);
    if (diagnostics.has_errors()) return false;
  }
  if (!check(module, verification, diagnostics)) return false;
  return run_passes(module, pipeline, diagnostics,
                    [&](const Pass& pass, const Module& changed, double seconds) {
                      if (arguments.has("timing")) {
                        fmt::print(stderr, "{:<26}{:.6f} s\n", pass.name, seconds);
                      }
                      if (is_wanted(arguments, pass.name)) {
                        fmt::print(stderr, "// behind {}\n{}", pass.name, print(changed));
                      }
                      return check(changed, verification, diagnostics);
                    });
}

ExitCode body(const Run& run) {
  const Arguments& arguments = run.arguments();
  Conversions conversions;
  PassRegistry registry;
  register_eliminations(registry);
  register_conversions(registry, conversions);
  if (arguments.has("list-passes")) return run.write_output(list_passes(registry));
  const auto verification = Verification::create(run);
  if (!verification) return run.usage_error(verification.error().message);
  const auto pipeline = registry.parse_pipeline(arguments.value("passes"));
  if (!pipeline) return run.usage_error(pipeline.error().message);
  if (arguments.operands().size() > 1) return run.usage_error("one file is taken at a time");
  Diagnostics diagnostics = run.diagnostics();
  auto granted = read_grants(arguments);
  if (!granted) return run.usage_error(granted.error().message);
  conversions.granted = *std::move(granted);
  const auto generation = parse_generation(arguments.value("generation", "2025-12"));
  if (!generation) return run.usage_error(generation.error().message);
  conversions.generation = *generation;
  IRContext context;
  register_builtin_dialects(context);
  ExitCode code = ExitCode::kSuccess;
  const SourceFile* file = run.read(run.files().front(), context.sources(), code);
  if (file == nullptr) return code;
  file = settle_texts(*file, conversions.granted, context, conversions.losses, diagnostics);
  if (file == nullptr) return run.report(diagnostics, context.sources());
  const std::optional<SyntaxTree> tree = parse(*file, diagnostics);
  if (!tree) return run.report(diagnostics, context.sources());
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  const std::string_view name = arguments.value("module");
  bool good = !diagnostics.has_errors();
  if (!good) verification->look_further(modules, diagnostics);
  for (Module* module : modules) {
    if (!good || (!name.empty() && context.text(module->name()) != name)) continue;
    good = transform(run, *verification, *pipeline, *module, diagnostics);
  }
  code = write_losses(run, conversions.losses, context);
  code = worst(code, run.report(diagnostics, context.sources()));
  return good ? worst(code, run.write_output(print(modules, *tree))) : code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
