// Trees back to text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mir/parse.hpp"

namespace mir {

/// The text in canonical layout (see LayoutPrinter): only white space changes, every comment is
/// kept, and formatting the result changes nothing. Ops that cannot be read keep their bytes.
std::string format(const SyntaxTree& tree);

/// Parses a text and returns it in canonical layout. No value if it has an error, which is
/// reported. Keeps no tree: `see`, unless it is empty, gets each part of it.
std::optional<std::string> format(const SourceFile& file, Diagnostics& diagnostics,
                                  const std::function<void(const Unit&)>& see = {});

/// Bytes [begin, end) of a text, and their text in canonical layout.
struct FormattedPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view text{};
};

/// Passes on format() in parts that follow one another and together are the text. Takes memory for
/// one of them, some 64 KiB or one operation. A part is valid during the call.
void format_in_parts(const SyntaxTree& tree, const std::function<void(const FormattedPart&)>& take);

/// As format, but only for what meets the lines `first` to `last` (1-based, inclusive): operations
/// (without their bodies), signatures and braces, with the comments before them on those lines.
/// Everything else keeps its bytes.
std::string format_lines(const SyntaxTree& tree, std::uint32_t first, std::uint32_t last);

/// Bytes [begin, end) of a text become `text`.
struct TextSplice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
};

/// Returns the splice that format_lines() makes. Takes memory for the replacement only.
TextSplice format_lines_splice(const SyntaxTree& tree, std::uint32_t first, std::uint32_t last);

/// The source byte for byte, put together from the tree's tokens and the gaps between them.
std::string exact_text(const SyntaxTree& tree);

}  // namespace mir
