// Renders diagnostics with one line for the findings that most dumps have.
#include "usual_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "support/terminal_text.hpp"
#include "verify/constraint.hpp"

namespace mir::tools {

namespace {

bool is_usual(Severity severity, DiagCode code) {
  return severity == Severity::kWarning && is_usual_in_dumps(code);
}

/// "371 findings that most dumps have: 277 MIR0470, 34 MIR0471, 60 MIR0472; --show-all lists them"
std::string line_of(const std::vector<DiagnosticCount>& usual, const SourceFile* file) {
  std::size_t all = 0;
  std::vector<std::string> codes;
  for (const DiagnosticCount& each : usual) {
    all += each.count;
    codes.push_back(fmt::format("{} {}", each.count, spelling(each.code)));
  }
  const std::string place = file == nullptr ? "" : visible(file->name()) + ": ";
  return fmt::format("{}{} finding{} that most dumps have: {}; --show-all lists {}\n", place, all,
                     all == 1 ? "" : "s", fmt::join(codes, ", "), all == 1 ? "it" : "them");
}

}  // namespace

std::string render_without_usual(const Diagnostics& diagnostics, const SourceManager& sources,
                                 const RenderOptions& options) {
  std::vector<DiagnosticCount> usual = diagnostics.counts();
  std::erase_if(usual, [](const auto& each) { return !is_usual(each.severity, each.code); });
  if (usual.empty()) return render(diagnostics, sources, options);
  const SourceFile* file = nullptr;
  std::size_t hidden = 0;  // findings of `usual` that were not kept
  for (const DiagnosticCount& each : usual) hidden += each.count;
  Diagnostics shown(0);
  for (Diagnostic& each : diagnostics.sorted()) {
    if (!is_usual(each.severity, each.code)) {
      shown.remark(each.code, each.at, "") = std::move(each);
      continue;
    }
    if (file == nullptr) file = sources.file_of(each.at.begin);
    --hidden;
  }
  const std::size_t others = diagnostics.dropped_warning_count();
  shown.skip(Severity::kWarning, {}, others > hidden ? others - hidden : 0);
  shown.skip(Severity::kError, {}, diagnostics.dropped_error_count());
  return render(shown, sources, options) + line_of(usual, file);
}

}  // namespace mir::tools
