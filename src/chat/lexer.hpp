// Tokens of chat templates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::chat {

enum class TokenKind : std::uint8_t {
  kText,        ///< of the template, between the tags
  kPrintBegin,  ///< `{{`
  kPrintEnd,
  kTagBegin,  ///< `{%`
  kTagEnd,
  kName,
  kInteger,
  kFloat,
  kString,  ///< its value
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind{};
  Span at{};
  std::string text{};
};

/// Cuts a template into tokens with the rules of Jinja for `trim_blocks` and `lstrip_blocks`. Ends
/// with a token of kind kEnd. Reports the first mistake and returns no tokens then.
std::vector<Token> read_tokens(const SourceFile& file, Diagnostics& diagnostics);

}  // namespace mir::chat
