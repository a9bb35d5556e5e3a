// Parses the text of an extent by recursive descent.
#include "extents/dim_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "mir/codes/names.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

/// A normal form nests at most two pairs of parentheses, of a factor and of an operand, per level.
constexpr int kMaxNesting = 2 * kMaxDimDepth;

constexpr std::string_view kTooLarge = "a number beyond 64 bits, or an expression too large";

constexpr std::string_view kBlanks = " \t\r\n";

class DimParser {
 public:
  DimParser(DimNodes& nodes, std::string_view text) : nodes_(nodes), text_(text) {}

  Result<Polynomial> parse() {
    auto extent = extremum();
    if (extent && !at_end()) fail("expected an operator");
    if (!reason_.empty()) return bad_dimension(text_, reason_);
    return std::move(*extent);
  }

 private:
  using Parsed = std::optional<Polynomial>;  // none: a reason is recorded

  Parsed extremum() {
    Parsed left = sum();
    std::string_view first;
    while (left && (peek_word() == "min" || peek_word() == "max")) {
      if (!first.empty() && first != peek_word()) {
        return fail("expected parentheses between 'min' and 'max'");
      }
      first = take_all(kWordCharacters);
      const Parsed right = sum();
      if (!right) return right;
      left = first == "min" ? nodes_.minimum(*left, *right) : nodes_.maximum(*left, *right);
      if (!left) return fail(kTooLarge);
    }
    return left;
  }

  Parsed sum() {
    Parsed left = product();
    while (left && (peek() == '+' || peek() == '-')) {
      const char op = take();
      left = apply(op, *left, product());
    }
    return left;
  }

  Parsed product() {
    Parsed left = unary();
    while (left && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char op = take();
      left = apply(op, *left, unary());
    }
    return left;
  }

  Parsed unary() {
    bool negative = false;
    for (; peek() == '-'; take()) negative = !negative;
    if (kDigits.find(peek()) != kDigits.npos) return integer(negative);
    Parsed value = peek() == '$' ? symbol() : peek() == '(' ? parentheses() : fail_at_operand();
    return value && negative ? apply('-', constant_polynomial(0), std::move(value)) : value;
  }

  Parsed integer(bool negative) {
    const std::string_view digits = take_all(kDigits);
    const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(signed_digits.data(), signed_digits.data() + signed_digits.size(), value);
    if (error != std::errc()) return fail("the integer does not fit 64 bits");
    return constant_polynomial(value);
  }

  Parsed symbol() {
    ++at_;
    std::string_view name = take_all(kWordCharacters);
    if (at_ == name.size() + 1 && text_.substr(at_) == kPackSuffix) {  // the whole text
      at_ = text_.size();
      name = text_.substr(1);
    }
    const DimExpr* expr = nodes_.symbol(name);
    return expr != nullptr ? Parsed(polynomial_of(expr)) : fail("expected the name of a symbol");
  }

  Parsed parentheses() {
    if (++nesting_ > kMaxNesting) {
      return fail(fmt::format("more than {} nested parentheses", kMaxNesting));
    }
    take();
    Parsed inner = extremum();
    if (inner && peek() != ')') return fail("expected an operator or ')'");
    take();
    --nesting_;
    return inner;
  }

  Parsed apply(char op, const Polynomial& left, Parsed right) {
    if (!right) return right;
    if ((op == '/' || op == '%') && right->is_zero()) return fail("division by zero");
    Parsed result = op == '+'   ? add(left, *right)
                    : op == '-' ? subtract(left, *right)
                    : op == '*' ? multiply(left, *right)
                    : op == '/' ? nodes_.quotient(left, *right)
                                : nodes_.remainder(left, *right);
    return result ? result : fail(kTooLarge);
  }

  Parsed fail_at_operand() {
    return fail(peek() == '?' ? "'?' is not part of an expression"
                              : "expected an integer, a symbol or '('");
  }

  Parsed fail(std::string_view reason) {
    if (reason_.empty()) {
      reason_ = at_ == text_.size() ? fmt::format("{} at its end", reason)
                                    : fmt::format("{} at character {}", reason, at_ + 1);
    }
    return std::nullopt;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  /// The next character that is not blank; a blank at the end.
  char peek() { return at_end() ? ' ' : text_[at_]; }

  char take() {
    const char taken = peek();
    at_ += at_ < text_.size();
    return taken;
  }

  /// The word that follows; empty if there is none.
  std::string_view peek_word() {
    const std::size_t begin = at_end() ? text_.size() : at_;
    return text_.substr(begin, text_.find_first_not_of(kWordCharacters, begin) - begin);
  }

  std::string_view take_all(std::string_view characters) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(characters, begin), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  DimNodes& nodes_;
  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::string reason_;
};

}  // namespace

Error bad_dimension(std::string_view text, std::string_view reason) {
  return {diag::kBadDimension, fmt::format("cannot read dimension '{}': {}", text, reason)};
}

Result<Polynomial> parse_dimension(DimNodes& nodes, std::string_view text) {
  return DimParser(nodes, text).parse();
}

}  // namespace mir
