// Renderings of diagnostics: for people, for grep, for programs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

enum class DiagnosticFormat { kHuman, kLine, kJson, kGithub };

struct RenderOptions {
  DiagnosticFormat format = DiagnosticFormat::kHuman;
  bool colour = false;
};

/// All collected diagnostics in one rendering.
/// - kHuman: `file:line:col: error[MIRnnnn]: text`, the source line clipped to about 100 display
///   columns around the range, a caret line, then notes in the same form, the hint and the fixes; a
///   closing line counts errors and says how many were not shown.
/// - kLine: the first line of that form only, one diagnostic a line.
/// - kJson: one JSON object a line, schema in docs/diagnostics-json.md.
/// - kGithub: one workflow command a line (`::error
/// file=...,line=...,col=...,title=MIRnnnn::text`). Messages, notes and hints are cut after 2000
/// bytes.
std::string render(const Diagnostics& diagnostics, const SourceManager& sources,
                   const RenderOptions& options);

/// Collects the diagnostics of a run, of any number of texts, for one SARIF 2.1.0 document.
class SarifLog {
 public:
  void add(const Diagnostics& diagnostics, const SourceManager& sources);
  /// The document, also when nothing was added. Errors that were not kept are not in it.
  std::string finish(std::string_view tool, std::string_view version) const;

 private:
  std::string results_;
  std::set<DiagCode> codes_;
};

}  // namespace mir
