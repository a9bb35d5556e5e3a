// Renderings of diagnostics: for people, for grep, for programs.
#pragma once

#include <string>

#include "mir/support/diagnostic.hpp"

namespace mir {

enum class DiagnosticFormat { kHuman, kLine, kJson };

struct RenderOptions {
  DiagnosticFormat format = DiagnosticFormat::kHuman;
  bool colour = false;
};

/// All collected diagnostics in one rendering.
/// - kHuman: `file:line:col: error[MIRnnnn]: text`, the source line clipped to about 100 display
///   columns around the range, a caret line, then notes in the same form and the hint; a closing
///   line counts errors and says how many were not shown.
/// - kLine: the first line of that form only, one diagnostic a line.
/// - kJson: one JSON object a line, schema in docs/diagnostics-json.md.
std::string render(const Diagnostics& diagnostics, const SourceManager& sources,
                   const RenderOptions& options);

}  // namespace mir
