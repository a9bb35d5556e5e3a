// A text as its tokens and comments in order, free of layout: what rewrites work on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"
#include "support/arena.hpp"

namespace mir {

struct StreamItem {
  enum class Role : std::uint8_t { kToken, kOwnLineComment, kTrailingComment };

  std::string_view text;
  TokenKind kind = TokenKind::kUndefined;
  Role role = Role::kToken;

  bool is(TokenKind wanted) const { return role == Role::kToken && kind == wanted; }
  friend bool operator==(const StreamItem&, const StreamItem&) = default;
};

/// Texts lie in the tree's source or, when new, in `texts`.
struct TokenStream {
  std::vector<StreamItem> items;
  Arena texts;

  explicit TokenStream(const SyntaxTree& tree);
  /// The index of the next token (no comment) from `at` on, or the number of items.
  std::size_t next_token(std::size_t at) const;
  std::string print() const;
};

/// True for the opening, the closing bracket of an array, a dictionary or a quantisation.
bool opens_value(TokenKind kind);
bool closes_value(TokenKind kind);

void renumber(TokenStream& stream);
void modernize(TokenStream& stream);
void alias_attributes(TokenStream& stream);
/// Specs that differ in their uuids alone get one alias, `#name(uuid)`, in modules that do not have
/// to keep them. Returns for each module whether it has such forms now.
std::vector<bool> number_attributes(TokenStream& stream, const std::vector<bool>& keeps_specs);
/// `quant_recipe:#name` becomes `#name`. Returns for each module whether it changed.
std::vector<bool> leave_recipe_keys_out(TokenStream& stream, const std::vector<bool>& keeps_keys);
/// Types of values that are repeated get a definition `!t<n> = type` before the first module where
/// that makes the text shorter. Modules for which `keeps_types` is true keep theirs. Returns for
/// each module whether it uses an alias now.
std::vector<bool> alias_types(TokenStream& stream, const std::vector<bool>& keeps_types);
Result<void> expand_attributes(TokenStream& stream);

}  // namespace mir
