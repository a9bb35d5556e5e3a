// Trees of texts with errors: everything that can be read, and where it cannot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "mir/parse.hpp"
#include "support/characters.hpp"

namespace mir {

// An op that cannot be read is one token of kind kError, which spans its text, in the nodes kOpName
// and kOpEnd. If only its head cannot be read, the token spans the head and the nodes of the body
// follow; likewise the head of a module. Text that a parser skipped between modules is in no token.

/// Like parse_units, but delivers all units, also after errors. A body that is not closed ends with
/// the text. Returns true if there was no error.
bool parse_damaged_units(const SourceFile& file, Diagnostics& diagnostics,
                         const std::function<bool(Unit&&)>& deliver);

/// The tree of any text. It has no units if the text is not UTF-8.
SyntaxTree parse_damaged(const SourceFile& file, Diagnostics& diagnostics);

/// How many more braces a text opens than it closes. Strings and comments do not count.
std::int64_t unclosed_braces(std::string_view text);

/// True if no opening brace begins a line, and each closing brace that begins one has the indent of
/// the line with its opening brace. Then braces that are not closed at the end of the text are
/// those that lack their pair. The brace at `skipped` does not count.
bool closes_at_indents(std::string_view text, std::size_t skipped = std::string_view::npos);

/// A brace that a text lacks.
struct MissingBrace {
  char brace = '{';
  std::size_t at = 0;                    ///< the end of the last word of a line
  std::optional<std::size_t> opening{};  ///< that a missing `}` closes
};
/// Returns the only brace that a text lacks above other text, as the layout shows: lines of a body
/// are deeper than the line of its opening brace, and its closing brace has the indent of that
/// line. No value if the text lacks none or several, if other braces are not placed so, or if the
/// braces in comments and strings make up for it.
std::optional<MissingBrace> missing_brace(std::string_view text);

/// Calls `visit(name)` for each word of the text that begins with `sigil`, `%` or `@`; without the
/// sigil and, for `@"..."`, without the quotes.
template <class Visit>
void for_each_name(std::string_view text, char sigil, const Visit& visit) {
  for (std::size_t at = text.find(sigil); at != text.npos; at = text.find(sigil, at)) {
    ++at;
    const bool is_quoted = at < text.size() && text[at] == '"';
    if (is_quoted) ++at;
    std::size_t end = is_quoted ? text.find('"', at) : text.find_first_not_of(kLabelCharacters, at);
    if (end == text.npos) end = text.size();
    visit(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace mir
