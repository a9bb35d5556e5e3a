// mllm-opt: runs passes over a module and writes it.
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
#include "support/file_io.hpp"
#include "tool.hpp"
#include "tools/opt/settings.hpp"
#include "upgrade/settle_text.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kTool = {
    .name = "mllm-opt",
    .summary = "Runs passes over the modules of a file and writes them.",
    .operands = "[file]",
    .examples = {{{"mllm-opt -p upgrade --assume=rms_eps=1e-6 dump.mir -o model.mir",
                   "make a dump portable"},
                  {"mllm-opt -p lift-program,eliminate-debug dump.mir",
                   "show the graphs of a lowered dump"}}},
};

std::string list_passes(const PassRegistry& registry) {
  std::string text;
  for (const Pass& pass : registry.passes())
    text += fmt::format("{:<26}{}\n", pass.name, pass.summary);
  return text;
}

bool is_shown_after(const OptSettings& settings, const Pass& pass) {
  return std::ranges::any_of(*settings.print_after, [&](const Pipeline& each) {
    return std::ranges::find(each, &pass) != each.end();
  });
}

ExitCode write_losses(const Run& run, const OptSettings& settings, const IRContext& context) {
  const std::string& path = *settings.loss_report;
  if (path.empty()) return ExitCode::kSuccess;
  const LossReport& losses = settings.known.conversions.losses;
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
bool transform(const OptSettings& settings, const Verification& verification, Module& module,
               Diagnostics& diagnostics) {
  const Pipeline& pipeline = *settings.passes;
  if (!pipeline.empty() && pipeline.front()->correct) {
    pipeline.front()->correct(module, diagnostics);
    if (diagnostics.has_errors()) return false;
  }
  if (!check(module, verification, diagnostics)) return false;
  const auto after = [&](const Pass& pass, const Module& changed, double seconds) {
    if (settings.timing) write_error_text(fmt::format("{:<26}{:.6f} s\n", pass.name, seconds));
    if (is_shown_after(settings, pass))
      write_error_text(fmt::format("// after {}\n{}", pass.name, print(changed)));
    return check(changed, verification, diagnostics);
  };
  return run_passes(module, pipeline, diagnostics, after);
}

/// Works on each module that was asked for; false when one is refused.
bool transform_all(const Run& run, const OptSettings& settings, std::span<Module* const> modules,
                   Diagnostics& diagnostics) {
  const Verification verification(settings.verification, run);
  if (diagnostics.has_errors()) {
    verification.look_further(modules, diagnostics);
    return false;
  }
  const std::string& name = *settings.module;
  return std::ranges::all_of(modules, [&](Module* module) {
    const bool is_wanted = name.empty() || module->context().text(module->name()) == name;
    return !is_wanted || transform(settings, verification, *module, diagnostics);
  });
}

ExitCode body(const Run& run, OptSettings& settings) {
  if (settings.list_passes) return run.write_output(list_passes(settings.known.registry));
  if (run.operands().size() > 1) return run.usage_error("one file is taken at a time");
  Conversions& conversions = settings.known.conversions;
  auto granted = read_grants(settings.facts, *settings.sidecars.sidecar);
  if (!granted) return run.refuse(granted.error());
  conversions.granted = *std::move(granted);
  conversions.generation = *settings.generation;
  Diagnostics diagnostics = run.diagnostics();
  IRContext context;
  register_builtin_dialects(context);
  const auto source = read_source(run.files().front(), context.sources());
  if (!source) return run.report(source.error());
  const SourceFile* file =
      settle_texts(**source, conversions.granted, context, conversions.losses, diagnostics);
  if (file == nullptr) return run.report(diagnostics, context.sources());
  const std::optional<SyntaxTree> tree = parse(*file, diagnostics);
  if (!tree) return run.report(diagnostics, context.sources());
  const std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  const bool good = transform_all(run, settings, modules, diagnostics);
  ExitCode code = write_losses(run, settings, context);
  code = worst(code, run.report(diagnostics, context.sources()));
  return good ? worst(code, run.write_output(print(modules, *tree))) : code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
