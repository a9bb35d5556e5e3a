// Quoted strings and numbers as text spells them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/number_text.hpp"

namespace mir {

/// Contents of `"..."` with JSON escapes undone; none for a malformed escape.
std::optional<std::string> unquote(std::string_view quoted);
/// `text` in quotes, with quotes, backslashes and control characters escaped.
std::string quote(std::string_view text);
/// Shortest text that reads back as the same double, never looking like an integer.
std::string number_text(double value);

}  // namespace mir
