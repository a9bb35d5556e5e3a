// Untrusted text made harmless and measurable for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mir {

/// Appends `text` so that it cannot drive a terminal and returns the columns it takes: a tab
/// becomes four blanks, a control or directional code point an escape (`\x1b`, `\u{202e}`), a byte
/// that is not UTF-8 becomes U+FFFD. Wide East Asian code points and emoji take two columns.
std::uint32_t append_visible(std::string& out, std::string_view text);

/// `text` as append_visible() appends it, line ends and tabs escaped or replaced like other
/// controls.
std::string visible(std::string_view text);

/// Like visible(), for each line of `text`. Line ends and tabs are kept.
std::string visible_lines(std::string_view text);

/// The first 2000 bytes of `text` in whole code points, with `...` where something was left out.
std::string clipped(std::string_view text);

struct TextStep {
  std::size_t offset;
  std::uint32_t columns;  ///< between the start and `offset`, as append_visible() would take
};

/// The farthest code point boundary after or before `from` within `columns` and within eight bytes
/// a column.
TextStep step_forward(std::string_view text, std::size_t from, std::uint32_t columns);
TextStep step_back(std::string_view text, std::size_t from, std::uint32_t columns);

}  // namespace mir
