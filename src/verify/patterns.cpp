// Checks patterns by reading them.
#include "patterns/pattern.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

void patterns(const Census& census, Reporter& reporter) {
  if (!reporter.wants(ConstraintId::pattern_c1)) return;
  for (const Op* op : census.patterns) {
    if (!has_structure(*op)) continue;
    Diagnostics found;
    if (mir::patterns::read_pattern(*op, found) != nullptr) continue;
    for (const Diagnostic& each : found.sorted()) {
      Diagnostic* kept =
          reporter.report(ConstraintId::pattern_c1, *op, [&] { return each.message; });
      if (kept != nullptr) kept->at = each.at;
    }
  }
}

}  // namespace mir::checks
