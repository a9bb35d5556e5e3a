// Parses and evaluates expressions over variables of patterns.
#include "patterns/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "mir/codes/passes.hpp"
#include "mir/equivalence.hpp"
#include "support/characters.hpp"
#include "support/suggest.hpp"

namespace mir::patterns {

using Kind = Expression::Kind;

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// An operator with two operands and how tight it binds.
struct Binary {
  std::string_view spelling;
  int level;
  Kind kind;
};
/// Longer spellings come before their beginnings.
constexpr Binary kBinary[] = {
    {"||", 0, Kind::kOr},      {"&&", 1, Kind::kAnd},      {"==", 2, Kind::kEqual},
    {"!=", 2, Kind::kDiffers}, {"<=", 2, Kind::kAtMost},   {">=", 2, Kind::kAtLeast},
    {"<", 2, Kind::kLess},     {">", 2, Kind::kGreater},   {"in", 2, Kind::kIn},
    {"+", 3, Kind::kAdd},      {"-", 3, Kind::kSubtract},  {"*", 4, Kind::kMultiply},
    {"/", 4, Kind::kDivide},   {"%", 4, Kind::kRemainder},
};
constexpr int kComparison = 2;

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Scope& scope, IRContext& context)
      : text_(text), scope_(scope), context_(context) {}

  Result<Expression> parse() {
    std::optional<Expression> all = binary(0);
    skip_blanks();
    if (all && at_ < text_.size()) all = fail("expected an operator");
    if (!all) return Error{diag::kBadPattern, std::move(message_)};
    return *std::move(all);
  }

 private:
  using Parsed = std::optional<Expression>;
  static constexpr int kMostLevels = 64;

  Parsed fail(std::string_view what) {
    if (message_.empty()) {
      message_ = fmt::format("cannot read '{}': {} at {}", text_, what,
                             at_ < text_.size() ? fmt::format("character {}", at_ + 1) : "its end");
    }
    return std::nullopt;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  bool next_is(std::string_view token) {
    skip_blanks();
    return text_.substr(at_).starts_with(token);
  }

  bool accept(std::string_view token) {
    if (!next_is(token)) return false;
    at_ += token.size();
    return true;
  }

  std::string_view take_all(std::string_view characters) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(characters, begin), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  const Binary* next_operator() {
    for (const Binary& each : kBinary) {
      if (!next_is(each.spelling)) continue;
      const std::size_t after = at_ + each.spelling.size();
      const bool is_word = is_letter(each.spelling[0]);
      if (is_word && after < text_.size() && is_name_character(text_[after])) continue;
      return &each;
    }
    return nullptr;
  }

  Parsed binary(int level) {
    Parsed left = unary();
    while (left) {
      const Binary* found = next_operator();
      if (found == nullptr || found->level < level) return left;
      at_ += found->spelling.size();
      Parsed right = binary(found->level + 1);
      if (!right) return std::nullopt;
      Expression both{.kind = found->kind};
      both.parts.push_back(*std::move(left));
      both.parts.push_back(*std::move(right));
      left = std::move(both);
      const Binary* next = found->level == kComparison ? next_operator() : nullptr;
      if (next != nullptr && next->level == kComparison) {
        return fail("comparisons cannot be chained: use &&");
      }
    }
    return left;
  }

  Parsed unary() {
    if (++depth_ > kMostLevels) return fail("it is nested too deep");
    Parsed value;
    if (!next_is("!=") && accept("!")) {
      value = wrap(Kind::kNot, unary());
    } else if (accept("-")) {
      value = wrap(Kind::kNegate, unary());
    } else {
      value = element(primary());
    }
    --depth_;
    return value;
  }

  static Parsed wrap(Kind kind, Parsed inner) {
    if (!inner) return inner;
    Expression outer{.kind = kind};
    outer.parts.push_back(*std::move(inner));
    return outer;
  }

  Parsed element(Parsed list) {
    while (list && accept("[")) {
      Parsed index = binary(0);
      if (!index) return index;
      if (!accept("]")) return fail("expected ']'");
      Expression element{.kind = Kind::kElement};
      element.parts.push_back(*std::move(list));
      element.parts.push_back(*std::move(index));
      list = std::move(element);
    }
    return list;
  }

  Parsed primary() {
    skip_blanks();
    if (at_ == text_.size()) return fail("expected a value");
    const char first = text_[at_];
    const bool begins_item = std::exchange(begins_item_, false);
    if (accept("(")) {
      Parsed inner = binary(0);
      if (inner && !accept(")")) return fail("expected ')'");
      return inner;
    }
    if (accept("[")) return list();
    if (first == '$') return variable(begins_item);
    if (first == '%') return value();
    if (first == '"') return string();
    if (first == '.' || is_digit(first)) return number();
    if (is_letter(first) || first == '_') return word();
    return fail("expected a value");
  }

  Parsed list() {
    Expression all{.kind = Kind::kList};
    if (accept("]")) return all;
    do {
      begins_item_ = true;
      Parsed each = binary(0);
      if (!each) return each;
      all.parts.push_back(*std::move(each));
    } while (accept(","));
    if (!accept("]")) return fail("expected ',' or ']'");
    return all;
  }

  Parsed variable(bool begins_item) {
    const std::size_t begin = at_++;
    take_all(kWordCharacters);
    if (text_.substr(at_).starts_with(kPackSuffix)) at_ += kPackSuffix.size();
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool is_pack = name.ends_with(kPackSuffix);
    const auto number =
        is_pack && !begins_item ? scope_.variable(name) : find_variable(scope_, name);
    if (!number) {
      at_ = begin;
      return fail(fmt::format("nothing binds '{}'", name));
    }
    return Expression{
        .kind = Kind::kVariable, .number = *number, .is_spliced = is_pack && begins_item};
  }

  Parsed value() {
    const std::size_t begin = at_++;
    const std::string_view name = take_all(kNameCharacters);
    const auto number = scope_.value(name);
    if (!number) {
      at_ = begin;
      return fail(fmt::format("nothing defines '%{}'", name));
    }
    return Expression{.kind = Kind::kValue, .number = *number};
  }

  Parsed string() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == text_.npos) return fail("a string without a closing quote");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return Expression{.kind = Kind::kLiteral, .literal = context_.word(inside)};
  }

  Parsed number() {
    const std::size_t begin = at_;
    take_all(kDigits);
    bool is_whole = true;
    if (at_ < text_.size() && text_[at_] == '.' && !text_.substr(at_).starts_with(kPackSuffix)) {
      is_whole = false;
      ++at_;
      take_all(kDigits);
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      is_whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      take_all(kDigits);
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    const Attr* literal = nullptr;
    if (is_whole) {
      std::int64_t whole = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
      if (read.ec == std::errc()) literal = context_.integer(whole);
    } else {
      double real = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), real);
      if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) {
        literal = context_.number(real);
      }
    }
    if (literal == nullptr) {
      at_ = begin;
      return fail("a number that cannot be held");
    }
    return Expression{.kind = Kind::kLiteral, .literal = literal};
  }

  Parsed word() {
    const std::size_t begin = at_;
    const std::string_view name = take_all(kWordCharacters);
    if (accept("(")) return call(name, begin);
    if (is_name_variable(name)) {
      if (const auto number = scope_.variable(name)) {
        return Expression{.kind = Kind::kVariable, .number = *number};
      }
      at_ = begin;
      return fail(fmt::format("nothing binds '{}'", name));
    }
    const Attr* literal = name == "true" || name == "false" ? context_.boolean(name == "true")
                          : name == "inf" || name == "nan"
                              ? context_.number(name == "inf" ? HUGE_VAL : std::nan(""))
                              : context_.word(name);
    return Expression{.kind = Kind::kLiteral, .literal = literal};
  }

  Parsed call(std::string_view name, std::size_t begin) {
    const auto all = functions();
    const auto found = std::ranges::find(all, name, &Function::name);
    if (found == all.end()) {
      NearestName nearest(name);
      for (const Function& each : all) nearest.offer(each.name);
      at_ = begin;
      return fail(fmt::format(
          "no function is called '{}'{}", name,
          nearest.best().empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest.best())));
    }
    Expression made{.kind = Kind::kCall, .function = &*found};
    if (!accept(")")) {
      do {
        Parsed each = binary(0);
        if (!each) return each;
        made.parts.push_back(*std::move(each));
      } while (accept(","));
      if (!accept(")")) return fail("expected ',' or ')'");
    }
    if (made.parts.size() != found->arity) {
      at_ = begin;
      return fail(fmt::format("'{}' takes {}", name, found->arguments));
    }
    for (const Expression& each : made.parts) {
      if ((each.kind == Kind::kValue) != found->takes_value) {
        at_ = begin;
        return fail(fmt::format("'{}' takes {}", name, found->arguments));
      }
    }
    return made;
  }

  std::string_view text_;
  Scope& scope_;
  IRContext& context_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool begins_item_ = false;  // of a list
  std::string message_;
};

/// Values outside of calls mean nothing.
bool has_bare_value(const Expression& expression) {
  if (expression.kind == Kind::kValue) return true;
  if (expression.kind == Kind::kCall && expression.function->takes_value) return false;
  return std::ranges::any_of(expression.parts, has_bare_value);
}

bool is_number(const Attr& value) {
  return value.kind() == AttrKind::kInt || value.kind() == AttrKind::kFloat;
}

const Attr* calculate(Kind kind, const Attr& a, const Attr& b, IRContext& context) {
  const auto x = extent_of(a), y = extent_of(b);
  if (x && y) {
    DimTable& dims = context.dims();
    const Dim result = kind == Kind::kAdd        ? dims.add(*x, *y)
                       : kind == Kind::kSubtract ? dims.subtract(*x, *y)
                       : kind == Kind::kMultiply ? dims.multiply(*x, *y)
                       : *y == Dim(0)            ? Dim::unknown()
                       : kind == Kind::kDivide   ? dims.floor_divide(*x, *y)
                                                 : dims.modulo(*x, *y);
    return attribute_of(result, context);
  }
  if (!is_number(a) || !is_number(b)) return nullptr;
  const double u = a.number(), v = b.number();
  switch (kind) {
    case Kind::kAdd:
      return context.number(u + v);
    case Kind::kSubtract:
      return context.number(u - v);
    case Kind::kMultiply:
      return context.number(u * v);
    case Kind::kDivide:
      return context.number(u / v);
    default:
      return nullptr;
  }
}

/// Less, equal or greater; none if that is not known.
std::optional<std::partial_ordering> compare(const Attr& a, const Attr& b, IRContext& context) {
  const auto x = extent_of(a), y = extent_of(b);
  if (x && y) {
    const Dim difference = context.dims().subtract(*x, *y);
    if (!difference.is_constant()) return std::nullopt;
    return std::partial_ordering(difference.constant() <=> 0);
  }
  if (!is_number(a) || !is_number(b)) return std::nullopt;
  return a.number() <=> b.number();
}

/// The truth of a comparison of extents for all values of their symbols; no value if it is not
/// known, or depends on the values. Without a prover, no symbol is declared.
std::optional<bool> proved(Kind kind, Dim a, Dim b, ExtentProver* prover, IRContext& context) {
  DimTable& dims = context.dims();
  const auto is_proved = [&](ExtentRelation relation, Dim x, Dim y) {
    return prover != nullptr ? prover->is_proved(relation, x, y)
                             : ExtentProver::holds_always(context, relation, x, y);
  };
  const auto is_at_least = [&](Dim x, Dim y) {
    return !x.is_unknown() && !y.is_unknown() && is_proved(ExtentRelation::kAtLeast, x, y);
  };
  const auto is_less = [&](Dim x, Dim y) { return is_at_least(y, dims.add(x, Dim(1))); };
  const auto either = [](bool is_true, bool is_false) {
    return is_true || is_false ? std::optional(is_true) : std::nullopt;
  };
  switch (kind) {
    case Kind::kEqual:
      return either(is_proved(ExtentRelation::kEqual, a, b), is_less(a, b) || is_less(b, a));
    case Kind::kDiffers:
      return either(is_less(a, b) || is_less(b, a), is_proved(ExtentRelation::kEqual, a, b));
    case Kind::kLess:
      return either(is_less(a, b), is_at_least(a, b));
    case Kind::kAtMost:
      return either(is_at_least(b, a), is_less(b, a));
    case Kind::kGreater:
      return either(is_less(b, a), is_at_least(b, a));
    default:
      return either(is_at_least(a, b), is_less(a, b));
  }
}

const Attr* compared(const Expression& of, const Attr& a, const Attr& b, const Bindings& bindings,
                     IRContext& context) {
  if (of.kind == Kind::kIn) {
    if (b.kind() != AttrKind::kArray) return nullptr;
    return context.boolean(std::ranges::any_of(
        b.elements(), [&](const Attr* each) { return are_equal(a, *each, context); }));
  }
  const bool asks_equal = of.kind == Kind::kEqual || of.kind == Kind::kDiffers;
  const auto order = compare(a, b, context);
  if (!order) {
    const auto x = extent_of(a), y = extent_of(b);
    const bool are_known = x && y && !x->is_unknown() && !y->is_unknown();
    if (are_known) {
      const auto truth = proved(of.kind, *x, *y, bindings.prover, context);
      return truth ? context.boolean(*truth) : nullptr;
    }
    if (!asks_equal || (x && y)) return nullptr;
    return context.boolean(are_equal(a, b, context) == (of.kind == Kind::kEqual));
  }
  switch (of.kind) {
    case Kind::kEqual:
      return context.boolean(*order == 0);
    case Kind::kDiffers:
      return context.boolean(*order != 0);
    case Kind::kLess:
      return context.boolean(*order < 0);
    case Kind::kAtMost:
      return context.boolean(*order <= 0);
    case Kind::kGreater:
      return context.boolean(*order > 0);
    default:
      return context.boolean(*order >= 0);
  }
}

const Attr* element_of(const Attr& list, const Attr& index) {
  if (list.kind() != AttrKind::kArray || index.kind() != AttrKind::kInt) return nullptr;
  const auto size = static_cast<std::int64_t>(list.elements().size());
  const std::int64_t at = index.integer() < 0 ? index.integer() + size : index.integer();
  if (at < 0 || at >= size) return nullptr;
  return list.elements()[static_cast<std::size_t>(at)];
}

const Attr* truth(const Expression& of, const Bindings& bindings, IRContext& context) {
  const Attr* value = evaluate(of, bindings, context);
  return value != nullptr && value->kind() == AttrKind::kBool ? value : nullptr;
}

/// `&&` and `||` look at their right side only where it counts.
const Attr* logical(const Expression& of, const Bindings& bindings, IRContext& context) {
  const Attr* left = truth(of.parts[0], bindings, context);
  if (left == nullptr) return nullptr;
  if (of.kind == Kind::kNot) return context.boolean(!left->boolean());
  if (left->boolean() == (of.kind == Kind::kOr)) return left;
  return truth(of.parts[1], bindings, context);
}

}  // namespace

bool is_name_variable(std::string_view name) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return !name.empty() && is_capital(name[0]) &&
         (name.size() == 1 || (name.size() == 2 && is_digit(name[1])));
}

Result<Expression> parse_expression(std::string_view text, Scope& scope, IRContext& context) {
  auto parsed = ExpressionParser(text, scope, context).parse();
  if (parsed && has_bare_value(*parsed)) {
    return Error{diag::kBadPattern,
                 fmt::format("cannot read '{}': a value can only be the argument of a function, "
                             "such as type(%x)",
                             text)};
  }
  return parsed;
}

const Attr* attribute_of(Dim extent, IRContext& context) {
  if (extent.is_constant()) return context.integer(extent.constant());
  return extent.is_unknown() ? nullptr : context.dim(extent);
}

std::optional<Dim> extent_of(const Attr& value) {
  if (value.kind() == AttrKind::kInt) return Dim(value.integer());
  if (value.kind() == AttrKind::kDim && !value.dim().is_unknown()) return value.dim();
  return std::nullopt;
}

bool are_equal(const Attr& a, const Attr& b, IRContext& context) {
  if (are_same_value(a, b)) return true;
  if (a.kind() == AttrKind::kArray && b.kind() == AttrKind::kArray) {
    return std::ranges::equal(a.elements(), b.elements(), [&](const Attr* x, const Attr* y) {
      return are_equal(*x, *y, context);
    });
  }
  const auto order = compare(a, b, context);
  return order && *order == 0;
}

const Attr* evaluate(const Expression& of, const Bindings& bindings, IRContext& context) {
  switch (of.kind) {
    case Kind::kLiteral:
      return of.literal;
    case Kind::kVariable:
      return bindings.variables[of.number];
    case Kind::kValue:
      return nullptr;
    case Kind::kNot:
    case Kind::kAnd:
    case Kind::kOr:
      return logical(of, bindings, context);
    case Kind::kCall:
      if (of.function->takes_value) {
        Value* value = bindings.values[of.parts[0].number];
        return value == nullptr ? nullptr : of.function->of_value(*value, context);
      }
      if (of.function->selects) {
        const Attr* condition = truth(of.parts[0], bindings, context);
        if (condition == nullptr) return nullptr;
        return evaluate(of.parts[condition->boolean() ? 1 : 2], bindings, context);
      }
      break;
    default:
      break;
  }
  std::vector<const Attr*> parts;
  for (const Expression& each : of.parts) {
    const Attr* part = evaluate(each, bindings, context);
    const bool asks_kind = of.kind == Kind::kCall && of.function->asks_kind;
    if (part == nullptr) return asks_kind ? context.boolean(false) : nullptr;
    if (of.kind != Kind::kList || !each.is_spliced) {
      parts.push_back(part);
      continue;
    }
    if (part->kind() != AttrKind::kArray) return nullptr;
    parts.insert(parts.end(), part->elements().begin(), part->elements().end());
  }
  switch (of.kind) {
    case Kind::kCall:
      return of.function->of(parts, context);
    case Kind::kList:
      return context.array(parts);
    case Kind::kElement:
      return element_of(*parts[0], *parts[1]);
    case Kind::kNegate:
      if (parts[0]->kind() == AttrKind::kFloat) return context.number(-parts[0]->number());
      return calculate(Kind::kSubtract, *context.integer(0), *parts[0], context);
    case Kind::kAdd:
    case Kind::kSubtract:
    case Kind::kMultiply:
    case Kind::kDivide:
    case Kind::kRemainder:
      return calculate(of.kind, *parts[0], *parts[1], context);
    default:
      return compared(of, *parts[0], *parts[1], bindings, context);
  }
}

std::optional<std::uint32_t> find_variable(Scope& scope, std::string_view name) {
  if (const auto number = scope.variable(name)) return number;
  if (!name.starts_with('$')) return std::nullopt;
  if (name.ends_with(kPackSuffix))
    return scope.variable(name.substr(0, name.size() - kPackSuffix.size()));
  return scope.variable(std::string(name).append(kPackSuffix));
}

void for_each_variable(const Expression& expression,
                       const std::function<void(std::uint32_t)>& visit) {
  if (expression.kind == Kind::kVariable) visit(expression.number);
  for (const Expression& part : expression.parts) for_each_variable(part, visit);
}

bool holds(const Expression& condition, const Bindings& bindings, IRContext& context) {
  const Attr* value = truth(condition, bindings, context);
  return value != nullptr && value->boolean();
}

}  // namespace mir::patterns
