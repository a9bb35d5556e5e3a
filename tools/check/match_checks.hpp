// Matching of an output against check lines.
#pragma once

#include <span>

#include "output_text.hpp"

namespace mir::tools {

/// Holds `output` to `checks`, which lie in a text of the same source space. Reports the first
/// check that fails between two labels: kCheckNotMet, or kForbiddenText for a CHECK-NOT, with the
/// places of the output that explain it.
void match_checks(std::span<const Check> checks, const OutputText& output,
                  Diagnostics& diagnostics);

}  // namespace mir::tools
