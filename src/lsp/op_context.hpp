// The op, the list and the string around a place that is typed at, also where the text cannot be
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lsp/features.hpp"

namespace mir::lsp {

/// Syntactic context of a place in the head of an op, from the words before it.
struct OpContext {
  enum class Inside : std::uint8_t { kNothing, kOperands, kResults, kAttributes };

  Inside inside = Inside::kNothing;
  std::string_view op;       ///< the name of the op; empty: none before
  std::uint32_t commas = 0;  ///< before the place in its list
  std::string_view key{};    ///< of the attribute whose value is here
  bool in_type = false;
  bool after_arrow = false;  ///< the word before is `->`
};

/// Reads the words before `end` of the op around `at`, or of the op above on its line.
OpContext op_context(const View& view, SourcePos at, SourcePos end);

/// Returns the row of the op with a name; null if no dialect has it, and for an empty name.
const OpRow* row_of(const View& view, std::string_view op);

/// True if the text around a place is a declaration or a pattern, whose strings mention values.
bool is_in_declaration(const View& view, SourcePos at);

/// Returns the attributes that the op with a name may have at a place besides those of its row:
/// annotations, before them those of ops in the body of a declared op.
std::vector<const AttrRow*> common_attributes(const View& view, SourcePos at, std::string_view op);

/// A comment or a string around an offset of a text. Neither extends over several lines.
struct QuotedPlace {
  std::optional<std::string_view> comment;  ///< its text before the offset, without slashes
  std::optional<std::uint32_t> string;      ///< where the string begins, behind its quote
};
QuotedPlace quoted_place(std::string_view text, std::uint32_t at);

}  // namespace mir::lsp
