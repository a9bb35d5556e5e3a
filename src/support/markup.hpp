// Texts inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// A text between tags, or in the quotes of an attribute.
inline std::string as_markup(std::string_view text) {
  std::string markup;
  for (const char byte : text) {
    switch (byte) {
      case '&':
        markup += "&amp;";
        break;
      case '<':
        markup += "&lt;";
        break;
      case '>':
        markup += "&gt;";
        break;
      case '"':
        markup += "&quot;";
        break;
      default:
        markup += byte;
    }
  }
  return markup;
}

}  // namespace mir
