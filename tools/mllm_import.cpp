// mllm-import: modules from checkpoints of Hugging Face and GGUF files.
#include "mir/codes/import.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "tool.hpp"
#include "tools/import/imported_model.hpp"
#include "tools/import/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kImportTool = {
    .name = "mllm-import",
    .summary =
        "Makes a portable module from a checkpoint: a folder of Hugging Face or a GGUF file.",
    .operands = "folder or GGUF file",
    .examples = {{{"mllm-import qwen2.5-0.5b -o model.mir",
                   "import a folder with config.json and model.safetensors"},
                  {"mllm-import model.gguf -o model.mir",
                   "import a GGUF file; its blocks stay as they are"}}},
    .files = "gguf",
    .files_behind = files_of_model,
};

ExitCode run_import(const Run& run, const ImportSettings& settings) {
  if (run.operands().size() != 1) return run.usage_error("expected one folder or GGUF file");
  const auto outputs = run.output().given();
  if (!outputs.empty() && outputs.front().ends_with(".mirz"))
    return run.usage_error("--output writes the text of a module: 'mllm-pack create' makes packs");
  const ImportRequest request{.path = run.operands().front(),
                              .family_file = *settings.family,
                              .text_only = *settings.part,
                              .padding = static_cast<bool>(settings.padding),
                              .last_logits = *settings.logits,
                              .context = settings.context.if_given(),
                              .keeps_blocks = *settings.weight_types,
                              .keeps_layers = static_cast<bool>(settings.layers)};
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics = run.diagnostics();
  const auto model = import_model(request, context, diagnostics);
  if (model && !settings.quiet)
    diagnostics.remark(diag::kConfigImported, {}, model->summary(request));
  const ExitCode code = run.report(diagnostics, context.sources());
  return model ? worst(code, run.write_output(print(*model->module))) : code;
}

}  // namespace

const Tool mir::tools::kMllmImport = {&kImportTool, [](int argc, char** argv) {
                                        return run_tool(kImportTool, argc, argv, run_import);
                                      }};
