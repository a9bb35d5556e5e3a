// Canonical spellings of single tokens.
#include "syntax/token_text.hpp"

#include <algorithm>
#include <string>

#include "support/characters.hpp"
#include "syntax/layout.hpp"

namespace mir {

namespace {

using K = TokenKind;

bool is_blank_char(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char* copy(std::string_view text, char* out) {
  return std::copy(text.begin(), text.end(), out);
}

bool is_operand(char c) {
  return is_name_character(c, "_$");
}

/// True if `min` or `max` begins at a place of a dimension expression.
bool is_extreme(std::string_view text, std::size_t at) {
  const std::string_view word = text.substr(at, 3);
  return (word == "min" || word == "max") && (at == 0 || !is_operand(text[at - 1])) &&
         (at + 3 == text.size() || !is_operand(text[at + 3]));
}

/// A dimension expression keeps blanks only between two words, and around `min` and `max`.
char* write_dim(std::string_view text, char* out) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_blank_char(text[end])) ++end;
    const bool is_inside = at != 0 && end != text.size();
    if (end != at && is_inside) {
      const bool is_between = is_operand(text[at - 1]) && is_operand(text[end]);
      const bool is_beside = is_extreme(text, end) || (at >= 3 && is_extreme(text, at - 3));
      if (is_between || is_beside) *out++ = ' ';
    }
    at = end;
    if (at < text.size()) *out++ = text[at++];
  }
  return out;
}

/// `<name="..."`, `[name="..."`: the quoted part is kept as it is. `<.name>` has no blanks.
char* write_name(std::string_view text, char* out) {
  const std::size_t quote = text.find('"');
  if (quote == text.npos) {
    return std::remove_copy_if(text.begin(), text.end(), out, is_blank_char);
  }
  *out++ = text.front();
  out = copy("name=", out);
  out = copy(text.substr(quote, text.rfind('"') - quote + 1), out);
  *out++ = text.back();
  return out;
}

/// First byte after the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return std::min(at + 1, text.size());
}

/// Outside strings, a run of white space becomes one blank, and none next to the outer brackets.
/// With `only_line_ends` runs that hold no line end are kept.
char* write_balanced(std::string_view text, bool only_line_ends, char* out) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      const std::size_t end = skip_string(text, at);
      out = copy(text.substr(at, end - at), out);
      at = end;
    } else if (is_blank_char(text[at])) {
      std::size_t end = at;
      while (end < text.size() && is_blank_char(text[end])) ++end;
      const std::string_view run = text.substr(at, end - at);
      // `->` would not close a bracket.
      const bool beside_bracket = at == 1 || (end + 1 == text.size() && text[at - 1] != '-');
      if (only_line_ends && run.find_first_of("\r\n") == run.npos) {
        out = copy(run, out);
      } else if (only_line_ends || !beside_bracket) {
        *out++ = ' ';
      }
      at = end;
    } else {
      *out++ = text[at++];
    }
  }
  return out;
}

}  // namespace

char* write_canonical(TokenKind kind, std::string_view text, char* out) {
  switch (kind) {
    case TokenKind::kDim:
      return write_dim(text, out);
    case TokenKind::kNameAngle:
    case TokenKind::kNameSquare:
      return write_name(text, out);
    case TokenKind::kAngle:
      return write_balanced(text, false, out);
    case TokenKind::kLoc: {
      const std::size_t open = text.find('(');
      return write_balanced(text.substr(open), false, copy("loc", out));
    }
    case TokenKind::kHash:
    case TokenKind::kOpaqueType:
      return write_balanced(text, true, out);
    default:
      return std::remove_copy_if(text.begin(), text.end(), out, is_blank_char);
  }
}

std::string_view fixed_spelling(TokenKind kind) {
  switch (kind) {
    case K::kArrow:
      return "->";
    case K::kLParen:
    case K::kDataLParen:
      return "(";
    case K::kRParen:
    case K::kDataRParen:
      return ")";
    case K::kLBrace:
    case K::kDictOpen:
      return "{";
    case K::kRBrace:
    case K::kDictClose:
      return "}";
    case K::kLBracket:
    case K::kLBracketSymbol:
    case K::kLBracketBlock:
    case K::kShapeOpen:
    case K::kArrayOpen:
      return "[";
    case K::kRBracket:
    case K::kShapeClose:
    case K::kArrayClose:
      return "]";
    case K::kComma:
      return ",";
    case K::kColon:
    case K::kFieldColon:
      return ":";
    case K::kEqual:
      return "=";
    case K::kTensor:
      return "tensor";
    case K::kLess:
      return "<";
    case K::kGreater:
      return ">";
    case K::kTrue:
      return "true";
    case K::kFalse:
      return "false";
    case K::kNull:
      return "null";
    case K::kInvalid:
      return "<InvalidAttribute NYI>";
    case K::kQuantSpecOpen:
      return "QuantSpec(";
    case K::kQuantAnnotationOpen:
      return "QuantAnnotation(";
    case K::kNoneOpen:
      return "None(";
    default:
      return "";
  }
}

bool is_plain_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_name_character(c, "_.$/-"); });
}

std::string canonical_text(TokenKind kind, std::string_view text) {
  if (!has_inner_space(kind)) return std::string(text);
  std::string result(text.size(), '\0');
  result.resize(
      static_cast<std::size_t>(write_canonical(kind, text, result.data()) - result.data()));
  return result;
}

}  // namespace mir
