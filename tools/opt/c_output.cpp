// Writes a module as C after the passes.
#include "tools/opt/c_output.hpp"

#include <fmt/format.h>

#include "emit_c/c_module.hpp"
#include "mir/codes/passes.hpp"

namespace mir::tools {

bool is_c(OptOutput output) {
  return output == OptOutput::kC || output == OptOutput::kCBlocks || output == OptOutput::kCHeader;
}

void append_decomposition(Pipeline& pipeline, const PassRegistry& registry) {
  SourceManager sources;
  Diagnostics none;
  const SourceFile* text = sources.add("", "decompose{to=generic}");
  auto added = registry.read_pipeline(*text, none);
  if (!added) return;
  for (PipelineItem& each : added->items) pipeline.items.push_back(std::move(each));
}

std::optional<std::string> c_text(std::span<Module* const> modules, OptOutput output,
                                  Diagnostics& diagnostics) {
  if (modules.size() != 1) {
    diagnostics.error(
        diag::kNoC, modules.empty() ? Span() : modules[1]->top()->span(),
        fmt::format("a C file has one module, found {}; --module selects one", modules.size()));
    return std::nullopt;
  }
  auto text = emit_c(*modules.front(), diagnostics, output == OptOutput::kCBlocks);
  if (!text) return std::nullopt;
  return output == OptOutput::kCHeader ? std::move(text->header) : std::move(text->source);
}

}  // namespace mir::tools
