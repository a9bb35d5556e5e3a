// Cuts chat templates into tokens, as Jinja does with trim_blocks and lstrip_blocks.
#include "chat/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "chat/characters.hpp"
#include "mir/codes/generation.hpp"

namespace mir::chat {
namespace {

constexpr std::string_view kOperators[] = {"**", "//", "==", "!=", ">=", "<=", "+", "-", "/",
                                           "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                           ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

class Lexer {
 public:
  Lexer(const SourceFile& file, Diagnostics& diagnostics)
      : file_(file), text_(file.text()), diagnostics_(diagnostics) {
    if (text_.ends_with('\n')) text_.remove_suffix(1);
  }

  std::vector<Token> read() {
    while (!failed_ && at_ < text_.size()) read_text();
    if (failed_) return {};
    add(TokenKind::kEnd, text_.size(), text_.size());
    return std::move(tokens_);
  }

 private:
  Span span(std::size_t begin, std::size_t end) const {
    return {static_cast<SourcePos>(file_.base() + begin),
            static_cast<SourcePos>(file_.base() + end)};
  }
  void add(TokenKind kind, std::size_t begin, std::size_t end, std::string text = {}) {
    tokens_.push_back({kind, span(begin, end), std::move(text)});
  }
  void fail(DiagCode code, std::size_t begin, std::size_t end, std::string message) {
    if (!failed_) diagnostics_.error(code, span(begin, std::max(end, begin)), std::move(message));
    failed_ = true;
  }
  bool has(std::string_view word, std::size_t at) const {
    return text_.substr(std::min(at, text_.size())).starts_with(word);
  }
  std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size()) {
      const CodePoint point = code_point_at(text_, at);
      if (!is_space(point.value)) break;
      at += point.bytes;
    }
    return at;
  }

  /// Reads the text up to the next tag, and the tag.
  void read_text() {
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = text_.find('{', tag);
      if (tag == text_.npos || tag + 1 >= text_.size()) {
        add_text(at_, text_.size(), 0, '\0');
        at_ = text_.size();
        return;
      }
      const char kind = text_[tag + 1];
      if (kind == '{' || kind == '%' || kind == '#') break;
    }
    const char kind = text_[tag + 1];
    std::size_t inside = tag + 2;
    const char sign = inside < text_.size() ? text_[inside] : '\0';
    if (sign == '-' || sign == '+') ++inside;
    add_text(at_, tag, kind, sign);
    at_ = inside;
    if (kind == '#') return read_comment(tag);
    if (kind == '%' && read_raw(tag)) return;
    add(kind == '{' ? TokenKind::kPrintBegin : TokenKind::kTagBegin, tag, inside);
    read_expression(kind == '{' ? "}}" : "%}", tag);
  }

  /// Adds text that the sign of the tag after it may strip.
  void add_text(std::size_t begin, std::size_t end, char kind, char sign) {
    std::string_view text = text_.substr(begin, end - begin);
    if (kind != '\0' && sign == '-') {
      text = strip_right(text);
    } else if ((kind == '%' || kind == '#') && sign != '+') {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == text.npos ? 0 : newline + 1;
      if ((line > 0 || starts_line_) && strip_left(text.substr(line)).empty())
        text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::kText, begin, end, std::string(text));
  }

  /// Ends a tag at `at`, where its closing mark is; trims after it.
  void end_tag(std::size_t after, bool strips, bool trims) {
    at_ = after;
    if (strips) {
      at_ = skip_blanks(after);
    } else if (trims && at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
    }
    starts_line_ = at_ > 0 && text_[at_ - 1] == '\n';
  }

  void read_comment(std::size_t begin) {
    const std::size_t end = text_.find("#}", at_);
    if (end == text_.npos)
      return fail(diag::kTemplateMalformed, begin, begin + 2, "the comment has no end '#}'");
    const char sign = end > at_ ? text_[end - 1] : '\0';
    end_tag(end + 2, sign == '-', sign != '+');
  }

  /// Reads a raw block; false if the tag is another one.
  bool read_raw(std::size_t begin) {
    std::size_t at = skip_blanks(at_);
    if (!has("raw", at)) return false;
    at = skip_blanks(at + 3);
    const bool strips_after = has("-%}", at);
    if (!strips_after && !has("%}", at)) return false;
    at += strips_after ? 3 : 2;
    for (std::size_t end = text_.find("{%", at); end != text_.npos;
         end = text_.find("{%", end + 2)) {
      std::size_t inside = end + 2;
      const char sign = inside < text_.size() ? text_[inside] : '\0';
      if (sign == '-' || sign == '+') ++inside;
      inside = skip_blanks(inside);
      if (!has("endraw", inside)) continue;
      inside = skip_blanks(inside + 6);
      const bool strips = has("-%}", inside), keeps = has("+%}", inside);
      if (!strips && !keeps && !has("%}", inside)) continue;
      if (strips_after) at = std::min(skip_blanks(at), end);
      starts_line_ = text_[at - 1] == '\n';
      add_text(at, end, '%', sign);
      end_tag(inside + (strips || keeps ? 3 : 2), strips, !keeps);
      return true;
    }
    fail(diag::kTemplateMalformed, begin, at, "'raw' has no 'endraw'");
    return true;
  }

  void read_expression(std::string_view close, std::size_t begin) {
    std::string open;  // brackets
    while (!failed_) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ >= text_.size())
        return fail(diag::kTemplateMalformed, begin, begin + 2,
                    fmt::format("the tag has no end '{}'", close));
      const char sign = text_[at_];
      const bool has_sign = sign == '-' || (sign == '+' && close == "%}");
      const std::size_t mark = at_ + (has_sign ? 1 : 0);
      if (open.empty() && has(close, mark)) {
        add(close == "}}" ? TokenKind::kPrintEnd : TokenKind::kTagEnd, at_, mark + 2);
        return end_tag(mark + 2, has_sign && sign == '-', close == "%}" && !has_sign);
      }
      read_token(open);
    }
  }

  void read_token(std::string& open) {
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      return add(TokenKind::kName, begin, at_, std::string(text_.substr(begin, at_ - begin)));
    }
    if (is_digit(c)) return read_number();
    if (c == '\'' || c == '"') return read_string(c);
    for (const std::string_view each : kOperators) {
      if (!has(each, at_)) continue;
      if (each == "(" || each == "[" || each == "{") open.push_back(each[0]);
      if (each == ")" || each == "]" || each == "}") {
        const char opened = each == ")" ? '(' : each == "]" ? '[' : '{';
        if (open.empty() || open.back() != opened)
          return fail(diag::kTemplateMalformed, begin, begin + 1,
                      fmt::format("unmatched '{}'", each));
        open.pop_back();
      }
      at_ += each.size();
      return add(TokenKind::kOperator, begin, at_, std::string(each));
    }
    const std::size_t bytes = code_point_at(text_, at_).bytes;
    fail(diag::kTemplateMalformed, begin, begin + bytes,
         fmt::format("unexpected character '{}' in a tag", text_.substr(begin, bytes)));
  }

  void read_number() {
    const std::size_t begin = at_;
    const auto digits = [&] {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    };
    digits();
    bool is_float = false;
    // After a '.', a number is the name of an item, as in `a.0.1`.
    const bool is_item = begin > 0 && text_[begin - 1] == '.';
    if (!is_item && at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      is_float = true;
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      std::size_t exponent = at_ + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        is_float = true;
        at_ = exponent;
        digits();
      }
    }
    if (at_ < text_.size() && is_letter(text_[at_]))
      return fail(diag::kTemplateUnsupported, begin, at_ + 1, "only decimal numbers are supported");
    std::string text(text_.substr(begin, at_ - begin));
    std::erase(text, '_');
    add(is_float ? TokenKind::kFloat : TokenKind::kInteger, begin, at_, std::move(text));
  }

  void read_string(char quote) {
    const std::size_t begin = at_++;
    std::string value;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        value.push_back(text_[at_++]);
      } else if (!read_escape(value)) {
        return;
      }
    }
    if (at_ >= text_.size())
      return fail(diag::kTemplateMalformed, begin, begin + 1, "the string has no end");
    ++at_;
    add(TokenKind::kString, begin, at_, std::move(value));
  }

  /// Reads an escape of Python's strings; false after reporting.
  bool read_escape(std::string& value) {
    constexpr std::string_view kLetters = "\n\\'\"abfnrtv", kMeanings = "\n\\'\"\a\b\f\n\r\t\v";
    const std::size_t begin = at_++;
    if (at_ >= text_.size()) return true;
    const char c = text_[at_++];
    if (c == '\n') return true;
    if (const auto letter = kLetters.find(c); letter != kLetters.npos) {
      value.push_back(kMeanings[letter]);
      return true;
    }
    std::uint32_t code = 0;
    if (c >= '0' && c <= '7') {
      code = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
        code = code * 8 + static_cast<std::uint32_t>(text_[at_++] - '0');
      append_utf8(value, code);
      return true;
    }
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      if (c == 'N') {
        fail(diag::kTemplateUnsupported, begin, at_, "the escape '\\N' is not supported");
        return false;
      }
      value.push_back('\\');
      --at_;
      return true;
    }
    for (int i = 0; i < digits; ++i, ++at_) {
      const char digit = at_ < text_.size() ? text_[at_] : '\0';
      const int number = is_digit(digit)                ? digit - '0'
                         : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                         : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                        : -1;
      if (number < 0) {
        fail(diag::kTemplateMalformed, begin, std::min(at_ + 1, text_.size()),
             fmt::format("the escape '\\{}' needs {} hexadecimal digits", c, digits));
        return false;
      }
      code = code * 16 + static_cast<std::uint32_t>(number);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      fail(diag::kTemplateMalformed, begin, at_, "the escape is not a code point of a text");
      return false;
    }
    append_utf8(value, code);
    return true;
  }

  const SourceFile& file_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool starts_line_ = true;  // what is read next begins a line
  bool failed_ = false;
};

}  // namespace

std::vector<Token> read_tokens(const SourceFile& file, Diagnostics& diagnostics) {
  return Lexer(file, diagnostics).read();
}

}  // namespace mir::chat
