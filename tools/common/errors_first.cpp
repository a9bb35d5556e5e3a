// Divides diagnostics into errors and findings.
#include "errors_first.hpp"

#include <algorithm>
#include <vector>

namespace mir::tools {

namespace {

bool is_error(Severity severity) {
  return severity == Severity::kError;
}

Diagnostics part_of(const Diagnostics& all, bool wants_errors) {
  Diagnostics part(0);
  std::vector<DiagnosticCount> hidden = all.counts();
  std::erase_if(hidden, [&](const auto& each) { return is_error(each.severity) != wants_errors; });
  for (Diagnostic& each : all.sorted()) {
    if (is_error(each.severity) != wants_errors) continue;
    const auto counted = std::ranges::find_if(hidden, [&](const DiagnosticCount& count) {
      return count.code == each.code && count.severity == each.severity;
    });
    if (counted != hidden.end()) --counted->count;
    Diagnostic& copy = is_error(each.severity)               ? part.error(each.code, each.at, "")
                       : each.severity == Severity::kWarning ? part.warning(each.code, each.at, "")
                                                             : part.remark(each.code, each.at, "");
    copy = std::move(each);
  }
  for (const DiagnosticCount& each : hidden) part.skip(each.severity, each.code, each.count);
  return part;
}

}  // namespace

Diagnostics only_errors(const Diagnostics& all) {
  return part_of(all, true);
}

Diagnostics without_errors(const Diagnostics& all) {
  return part_of(all, false);
}

}  // namespace mir::tools
