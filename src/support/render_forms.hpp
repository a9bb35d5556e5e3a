// The forms of diagnostics that have files of their own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// One JSON object a line.
std::string render_json(std::span<const Diagnostic> list, const SourceManager& sources);
/// One GitHub workflow command a line.
std::string render_github(std::span<const Diagnostic> list, const SourceManager& sources);

/// A path as a URI reference: bytes that a URI must not have are percent-encoded.
std::string uri_of(std::string_view path);  // diagnostic_json.cpp

}  // namespace mir
