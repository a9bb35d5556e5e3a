#include "syntax/op_text.hpp"

#include <algorithm>

#include "syntax/lexer.hpp"

namespace mir {

OpText::OpText(const SourceFile& file, Span name) : file_(file) {
  constexpr std::size_t kMostTokens = 4096;
  Diagnostics ignored(1);
  Lexer lexer(file, ignored, name.begin - file.base());
  while (tokens_.size() < kMostTokens) {
    const TokenKind kind = lexer.next();
    using enum TokenKind;
    const bool starts_next = kind == kOpName || kind == kAddress || kind == kLBrace;
    if (kind == kEnd || kind == kError || kind == kRBrace || (starts_next && !tokens_.empty())) {
      break;
    }
    tokens_.emplace_back(kind, static_cast<std::uint32_t>(lexer.begin() - file.text().data()),
                         static_cast<std::uint32_t>(lexer.end() - lexer.begin()));
  }
}

Span OpText::span(std::size_t index) const {
  return index < tokens_.size() ? span(tokens_[index]) : Span{};
}

Span OpText::span(const Token& token) const {
  const SourcePos at = file_.base() + token.offset;
  return {at, at + token.length()};
}

Span OpText::first(TokenKind kind) const {
  const auto found = std::ranges::find(tokens_, kind, &Token::kind);
  return found == tokens_.end() ? Span{} : span(*found);
}

Span OpText::mention(std::string_view name) const {
  for (const Token& token : tokens_) {
    const Span at = span(token);
    const std::string_view word = text(at);
    if (!word.starts_with('%') || word.substr(1, name.size()) != name) continue;
    const std::size_t end = name.size() + 1;
    if (end < word.size() && word[end] != ':') continue;
    return {at.begin, at.begin + static_cast<SourcePos>(end)};
  }
  return {};
}

/// Keys inside lists of values and inside dictionaries are not the op's.
std::size_t OpText::find_key(std::string_view name) const {
  using enum TokenKind;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    const TokenKind kind = tokens_[i].kind();
    depth += (kind == kLParen || kind == kDictOpen) - (kind == kRParen || kind == kDictClose);
    if (depth == 0 && kind == kKey && tokens_[i + 1].kind() == kColon && text(span(i)) == name) {
      return i;
    }
  }
  return tokens_.size();
}

Span OpText::key(std::string_view name) const {
  return span(find_key(name));
}

Span OpText::value(std::string_view key) const {
  const std::size_t at = find_key(key);
  if (at + 3 >= tokens_.size()) return {};
  const TokenKind after = tokens_[at + 3].kind();
  const bool single = after == TokenKind::kComma || after == TokenKind::kRBracket;
  return single ? span(at + 2) : Span{};
}

}  // namespace mir
