// Spellings of single tokens.
#pragma once

#include <cstdint>
#include <string_view>

#include "mir/parse.hpp"

namespace mir {

/// True if tokens of this kind can have more than one spelling.
constexpr bool has_inner_space(TokenKind kind) {
  using enum TokenKind;
  constexpr auto bit = [](TokenKind k) { return std::uint64_t{1} << static_cast<int>(k); };
  constexpr std::uint64_t kKinds = bit(kAddress) | bit(kNameAngle) | bit(kNameSquare) |
                                   bit(kAngle) | bit(kLoc) | bit(kDim) | bit(kHash) |
                                   bit(kOpaqueType) | bit(kQuantSpecOpen) |
                                   bit(kQuantAnnotationOpen) | bit(kNoneOpen);
  static_assert(kTokenKinds <= 64);
  return (kKinds >> static_cast<int>(kind) & 1) != 0;
}

/// Writes canonical_text(kind, text), which is never longer than `text`, for a kind that
/// has_inner_space(); returns its end.
char* write_canonical(TokenKind kind, std::string_view text, char* out);

/// The spelling of a kind that has only one; empty for any other.
std::string_view fixed_spelling(TokenKind kind);

/// True if `text` consists of letters, digits and `_.$/-` and is not empty.
bool is_plain_name(std::string_view text);

}  // namespace mir
