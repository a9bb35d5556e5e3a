// mllm-lsp: the language server for MLLM IR text.
#include <unistd.h>

#include "lsp/serve.hpp"
#include "tool.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kTool = {
    .name = "mllm-lsp",
    .summary = "Serves editors over the Language Server Protocol, on standard input and output.",
    .operands = "",
    .examples = {{{"mllm-lsp", "serve the editor that started it"},
                  {"mllm-lsp --stdio", "the same, as some editors start it"}}},
};

struct LspSettings {
  OptionSet& options;

  Flag stdio{options, {.name = "stdio", .help = "use standard input and output, as always"}};
};

ExitCode body(const Run& run, const LspSettings&) {
  if (!run.operands().empty()) return run.usage_error("mllm-lsp takes no operands");
  const int status = lsp::serve(STDIN_FILENO, STDOUT_FILENO, MIR_VERSION);
  return status == 0 ? ExitCode::kSuccess : ExitCode::kFindings;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
