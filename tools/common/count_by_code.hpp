// Diagnostics as counts.
#pragma once

#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// One line a code and severity: how many there were, the code with its meaning, where the first
/// that was kept is. As JSON one object a line: schema, code, severity, count, summary, file,
/// line, column (null without a place).
std::string count_by_code(const Diagnostics& diagnostics, const SourceManager& sources,
                          DiagnosticFormat format);

}  // namespace mir::tools
