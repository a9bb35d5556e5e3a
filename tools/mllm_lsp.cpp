// mllm-lsp: the language server for MLLM IR text.
#include "dialect_files.hpp"
#include "lsp/serve.hpp"
#include "mir/version.hpp"
#include "support/file_io.hpp"
#include "support/platform/memory.hpp"
#include "support/platform/streams.hpp"
#include "tool.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kLspTool = {
    .name = "mllm-lsp",
    .summary = "Serves editors over the Language Server Protocol, on standard input and output.",
    .operands = "",
    .examples = {{{"mllm-lsp", "serve the editor that started it"},
                  {"mllm-lsp --stdio", "the same, as some editors start it"}}},
    .writes_output = false,
};

struct LspSettings {
  OptionSet& options;

  Flag stdio{options, {.name = "stdio", .help = "use standard input and output, as always"}};
  DialectSettings dialects{options};
};

/// The texts of the dialects, which are sound.
Result<std::vector<lsp::DialectText>> read_texts(const DialectSettings& settings) {
  std::vector<lsp::DialectText> texts;
  for (const std::string& path : dialect_paths(settings)) {
    auto text = read_file(path, SourceManager::kMaxFileSize);
    if (!text) return std::move(text).error();
    texts.push_back({path, *std::move(text)});
  }
  return texts;
}

/// Reports why the dialects cannot be registered, if so.
ExitCode check_dialects(const Run& run, const DialectSettings& settings) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (register_dialects(settings, context, diagnostics)) return ExitCode::kSuccess;
  return run.report(diagnostics, context.sources());
}

ExitCode run_lsp(const Run& run, const LspSettings& settings) {
  if (!run.operands().empty()) return run.usage_error("mllm-lsp takes no operands");
  const ExitCode checked = check_dialects(run, settings.dialects);
  if (checked != ExitCode::kSuccess) return checked;
  auto dialects = read_texts(settings.dialects);
  if (!dialects) return run.report(dialects.error());
  // Memory of long texts, trees, tables and answers goes back to the system, also that of the
  // thread that reads.
  return_long_objects();
  const int status =
      lsp::serve(kStandardInput, kStandardOutput, kProjectVersion, *std::move(dialects));
  return status == 0 ? ExitCode::kSuccess : ExitCode::kFindings;
}

}  // namespace

const Tool mir::tools::kMllmLsp = tool_of<kLspTool, run_lsp>();
