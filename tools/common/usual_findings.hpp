// Findings that most dumps have, in one line.
#pragma once

#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Like render(), with one line for all findings that most dumps have: their number by code, and
/// the option that lists them.
std::string render_without_usual(const Diagnostics& diagnostics, const SourceManager& sources,
                                 const RenderOptions& options);

}  // namespace mir::tools
