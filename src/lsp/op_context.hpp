// The op, the list and the string around a place that is typed at, also where the text cannot be
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

/// A comment or a string around an offset of a text. Neither extends over several lines.
struct QuotedPlace {
  std::optional<std::string_view> comment;  ///< its text before the offset, without slashes
  std::optional<std::uint32_t> string;      ///< where the string begins, behind its quote
};
QuotedPlace quoted_place(std::string_view text, std::uint32_t at);

}  // namespace mir::lsp
