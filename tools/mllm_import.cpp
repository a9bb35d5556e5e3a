// mllm-import: modules from checkpoints of Hugging Face and GGUF files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "mir/codes/import.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "progress.hpp"
#include "report_text.hpp"
#include "tool.hpp"
#include "tools/import/family_trial.hpp"
#include "tools/import/imported_model.hpp"
#include "tools/import/settings.hpp"
#include "tools/interp/run_settings.hpp"
#include "tools/pack/creation.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kImportTool = {
    .name = "mllm-import",
    .summary = "Makes a portable module from a Hugging Face folder or a GGUF file.",
    .operands = "folder or GGUF file",
    .examples = {{{"mllm-import qwen2.5-0.5b -o model.mir",
                   "import a folder with config.json and model.safetensors"},
                  {"mllm-import model.gguf -o model.mirz",
                   "make a pack of a GGUF file; its blocks stay as they are"}}},
    .files = "gguf",
    .files_behind = files_of_model,
};

/// Writes a pack of a module's text and the weights of its model.
ExitCode write_pack_of(const Run& run, const ImportedModel& model, const std::string& path) {
  OptionSet rows;
  RunSettings settings{rows};
  if (model.has_weights) {
    if (const auto taken = settings.weights.take(model.files.weights); !taken)
      return run.report(taken.error());
  }
  const std::string name = std::filesystem::path(path).stem().string() + ".mir";
  auto plan = plan_pack(Invocation{.path = name, .settings = settings});
  if (!plan) return run.report(plan.error());
  // The module is no file: the plan names it like one.
  const auto module = std::ranges::find(plan->files, plan->module, &PackPlan::File::name);
  module->text = print(*model.module);
  plan->progress = byte_progress();
  const auto written = write_pack(path, *plan);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

/// Tries the families of a file, or those of the toolkit.
ExitCode try_families(const Run& run, const ImportSettings& settings) {
  if (!run.operands().empty()) return run.usage_error("--try-configs reads no model");
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics = run.diagnostics();
  auto families = toolkit_families(context, diagnostics);
  if (families && settings.family.is_given())
    families = families_of_file(*settings.family, context, diagnostics);
  for (const Family& each : families.value_or(std::vector<Family>())) {
    const auto trial = try_configs(each, *settings.try_configs, context, diagnostics);
    if (!trial) continue;
    print_report("{}: {} configs verify, {} are refused; not varied: {}\n", each.name,
                 trial->accepted, trial->refused,
                 trial->not_varied.empty() ? "nothing"
                                           : fmt::format("{}", fmt::join(trial->not_varied, ", ")));
  }
  return run.report(diagnostics, context.sources());
}

ExitCode run_import(const Run& run, const ImportSettings& settings) {
  if (settings.try_configs.is_given()) return try_families(run, settings);
  if (run.operands().size() != 1) return run.usage_error("expected one folder or GGUF file");
  const auto outputs = run.output().given();
  const bool is_pack = !outputs.empty() && outputs.front().ends_with(".mirz");
  if (is_pack && settings.model_op)
    return run.usage_error(
        "--model-op writes a text that needs --dialect, which a pack cannot have");
  const ImportRequest request{.path = run.operands().front(),
                              .family_file = *settings.family,
                              .text_only = *settings.part,
                              .padding = static_cast<bool>(settings.padding),
                              .last_logits = *settings.logits,
                              .context = settings.context.if_given(),
                              .keeps_blocks = *settings.weight_types,
                              .keeps_op = static_cast<bool>(settings.model_op)};
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics = run.diagnostics();
  const auto model = import_model(request, context, diagnostics);
  if (model && !settings.quiet)
    diagnostics.remark(diag::kConfigImported, {}, model->summary(request));
  const ExitCode code = run.report(diagnostics, context.sources());
  if (!model) return code;
  return worst(code, is_pack ? write_pack_of(run, *model, outputs.front())
                             : run.write_output(print(*model->module)));
}

}  // namespace

const Tool mir::tools::kMllmImport = tool_of<kImportTool, run_import>();
