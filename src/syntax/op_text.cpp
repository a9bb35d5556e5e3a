// Scans one op again to find the source ranges of its mentions, keys and attribute values.
#include "syntax/op_text.hpp"

#include <algorithm>

#include "syntax/lexer.hpp"

namespace mir {

OpText::OpText(const SourceFile& file, Span name) : file_(file) {
  constexpr std::size_t kMostTokens = 4096;
  Diagnostics ignored(1);
  Lexer lexer(file, ignored, name.begin - file.base());
  bool is_in_region = false;
  while (tokens_.size() < kMostTokens) {
    const TokenKind kind = lexer.next();
    using enum TokenKind;
    const bool is_signature =
        kind == kLParen && !tokens_.empty() && tokens_.back().kind() == kLBrace;
    if (is_in_region && tokens_.back().kind() == kLBrace && !is_signature) break;
    const bool starts_next =
        kind == kOpName || kind == kAddress || (kind == kLBrace && is_in_region);
    if (kind == kEnd || kind == kError || kind == kRBrace || (starts_next && !tokens_.empty())) {
      break;
    }
    is_in_region = is_in_region || kind == kLBrace;
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

Span OpText::attribute_list() const {
  int depth = 0;
  for (const Token& token : tokens_) {
    using enum TokenKind;
    if (depth == 0 && token.kind() == kLBracket) return span(token);
    if (token.kind() == kLBrace) break;
    depth += (token.kind() == kLParen) - (token.kind() == kRParen);
  }
  return {};
}

Span OpText::last_list_end() const {
  Span last;
  for (const Token& token : tokens_) {
    if (token.kind() == TokenKind::kLBrace) break;
    if (token.kind() == TokenKind::kRParen) last = span(token);
  }
  return last;
}

Span OpText::mention(std::string_view name, std::size_t earlier) const {
  for (const Token& token : tokens_) {
    const Span at = span(token);
    const std::string_view word = text(at);
    if (!word.starts_with('%') || word.substr(1, name.size()) != name) continue;
    const std::size_t end = name.size() + 1;
    if (end < word.size() && word[end] != ':') continue;
    if (earlier-- > 0) continue;
    return {at.begin, at.begin + static_cast<SourcePos>(end)};
  }
  return {};
}

namespace {

/// Returns where `part` has the word between two of the marks that part types and names; npos: it
/// has not.
std::size_t find_word(std::string_view part, std::string_view word) {
  constexpr std::string_view kMarks = " ,<>.[]";
  for (auto at = part.find(word); at != part.npos; at = part.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || kMarks.find(part[at - 1]) != kMarks.npos;
    if (begins && (end == part.size() || kMarks.find(part[end]) != kMarks.npos)) return at;
  }
  return part.npos;
}

}  // namespace

Span OpText::type_word(std::string_view word) const {
  if (word.empty()) return {};
  for (const Token& token : tokens_) {
    using enum TokenKind;
    const TokenKind kind = token.kind();
    const bool may_have =
        kind == kOpName || kind == kAngle || kind == kTypedValue || kind == kType || kind == kWord;
    if (!may_have) continue;
    const Span at = span(token);
    std::string_view part = text(at);
    const std::size_t skipped = kind == kTypedValue ? part.find(':') + 1 : 0;
    const std::size_t found = find_word(part.substr(skipped), word);
    if (found == part.npos) continue;
    const SourcePos begin = at.begin + static_cast<SourcePos>(skipped + found);
    return {begin, begin + static_cast<SourcePos>(word.size())};
  }
  return {};
}

namespace {

bool opens_part(TokenKind kind) {
  using enum TokenKind;
  return kind == kArrayOpen || kind == kDictOpen || kind == kQuantSpecOpen ||
         kind == kQuantAnnotationOpen || kind == kLess || kind == kShapeOpen;
}

bool closes_part(TokenKind kind) {
  using enum TokenKind;
  return kind == kArrayClose || kind == kDictClose || kind == kDataRParen || kind == kGreater ||
         kind == kShapeClose;
}

}  // namespace

/// In dictionaries, keys are words or strings.
bool OpText::is_key(std::size_t index, std::string_view name) const {
  const TokenKind next = index + 1 < tokens_.size() ? tokens_[index + 1].kind() : TokenKind::kEnd;
  if (next != TokenKind::kColon && next != TokenKind::kFieldColon) return false;
  const std::string_view word = text(span(index));
  return word == name || (word.size() == name.size() + 2 && word.starts_with('"') &&
                          word.substr(1, name.size()) == name);
}

/// Keys inside lists of values and inside dictionaries are not the op's.
std::size_t OpText::find_key(std::string_view name) const {
  using enum TokenKind;
  int depth = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const TokenKind kind = tokens_[i].kind();
    depth += (kind == kLParen || kind == kDictOpen) - (kind == kRParen || kind == kDictClose);
    if (depth == 0 && kind == kKey && is_key(i, name)) return i;
  }
  return tokens_.size();
}

std::size_t OpText::find_entry(std::string_view attribute, std::string_view name) const {
  int depth = 0;
  for (std::size_t i = find_key(attribute) + 2; i < tokens_.size(); ++i) {
    const TokenKind kind = tokens_[i].kind();
    if (depth == 1 && is_key(i, name)) return i;
    depth += opens_part(kind) - closes_part(kind);
    if (depth == 0) break;
  }
  return tokens_.size();
}

std::size_t OpText::find_mention_key(std::string_view value, std::string_view name) const {
  bool is_of_value = false;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const TokenKind kind = tokens_[i].kind();
    const std::string_view word = text(span(i));
    if (kind == TokenKind::kTypedValue || kind == TokenKind::kValue) {
      is_of_value = word.substr(1, word.find(':') - 1) == value;
    } else if (kind == TokenKind::kRParen) {
      is_of_value = false;
    } else if (is_of_value && kind == TokenKind::kKey && is_key(i, name)) {
      return i;
    }
  }
  return tokens_.size();
}

Span OpText::mention_symbol(std::string_view value) const {
  bool is_of_value = false;
  for (const Token& token : tokens_) {
    using enum TokenKind;
    const Span at = span(token);
    if (token.kind() == kTypedValue || token.kind() == kValue) {
      const std::string_view word = text(at);
      is_of_value = word.substr(1, word.find(':') - 1) == value;
    } else if (token.kind() == kRParen) {
      is_of_value = false;
    } else if (is_of_value && token.kind() == kSymbol) {
      return at;
    }
  }
  return {};
}

Span OpText::value_after(std::size_t key) const {
  const std::size_t first = key + 2;
  int depth = 0;
  for (std::size_t i = first; i < tokens_.size(); ++i) {
    const TokenKind kind = tokens_[i].kind();
    const bool ends = depth == 0 && (kind == TokenKind::kComma || kind == TokenKind::kRBracket ||
                                     kind == TokenKind::kDictClose);
    if (ends) return i == first ? Span{} : Span{span(first).begin, span(i - 1).end};
    depth += opens_part(kind) - closes_part(kind);
  }
  return {};
}

}  // namespace mir
