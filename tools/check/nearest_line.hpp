// The line that a text was probably meant to be found in.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace mir::tools {

/// Returns the index of the line that shares most pairs of neighbouring bytes with `wanted`, the
/// first of several; no value if no line shares half of them. Only parts of long texts are read.
std::optional<std::size_t> nearest_line(std::string_view wanted,
                                        std::span<const std::string_view> lines);

}  // namespace mir::tools
