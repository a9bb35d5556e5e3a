// Operators, attributes, items and slices of chat templates.
#include "chat/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chat/characters.hpp"

namespace mir::chat {
namespace {

Error types_refused(std::string_view op, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_used(a);
  if (b.is_undefined()) return undefined_used(b);
  return template_failed(fmt::format("operator '{}' does not take values of types '{}' and '{}'",
                                     op, a.type_name(), b.type_name()));
}

Error too_large(std::string_view op) {
  return template_failed(fmt::format("the result of '{}' needs more than 64 bits", op));
}

Result<Value> power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (exponent < 0) return template_unsupported("powers with negative exponents are not supported");
  if (base == 0 || base == 1) return Value(exponent == 0 ? std::int64_t{1} : base);
  if (base == -1) return Value(exponent % 2 == 0 ? std::int64_t{1} : std::int64_t{-1});
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return too_large("**");
  }
  return Value(result);
}

Result<Value> integer_operation(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (op == "+") {
    if (__builtin_add_overflow(a, b, &result)) return too_large(op);
    return Value(result);
  }
  if (op == "-") {
    if (__builtin_sub_overflow(a, b, &result)) return too_large(op);
    return Value(result);
  }
  if (op == "*") {
    if (__builtin_mul_overflow(a, b, &result)) return too_large(op);
    return Value(result);
  }
  if (op == "**") return power(a, b);
  if (b == 0) return template_failed("division by zero");
  if (op == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {
    if (op == "%") return Value(std::int64_t{0});
    if (__builtin_sub_overflow(std::int64_t{0}, a, &result)) return too_large(op);
    return Value(result);
  }
  // The quotient is rounded down, so a remainder has the sign of the divisor.
  const std::int64_t quotient = a / b, remainder = a % b;
  const bool is_below = remainder != 0 && (remainder < 0) != (b < 0);
  if (op == "//") return Value(quotient - (is_below ? 1 : 0));
  return Value(remainder + (is_below ? b : 0));
}

Result<Value> float_operation(std::string_view op, double a, double b) {
  if (op == "+") return Value(a + b);
  if (op == "-") return Value(a - b);
  if (op == "*") return Value(a * b);
  if (op == "**") return template_unsupported("powers of floats are not supported");
  if (b == 0) return template_failed("division by zero");
  if (op == "/") return Value(a / b);
  const double remainder = std::fmod(a, b);
  const bool is_below = remainder != 0 && (remainder < 0) != (b < 0);
  if (op == "//") return Value(std::round((a - remainder) / b) - (is_below ? 1 : 0));
  return Value(is_below ? remainder + b : remainder);
}

Result<Value> repeated(const Value& value, std::int64_t count, Budget& budget) {
  const auto times = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
  const List* list = value.list();
  const std::uint64_t each =
      list == nullptr ? value.string()->size() : list->items.size() * sizeof(Value);
  if (each != 0 && times > budget.limits().bytes / each)
    return budget.bytes(~std::uint64_t{0}).error();
  if (each == 0) return value;
  if (list == nullptr) {
    std::string text;
    text.reserve(each * times);
    for (std::uint64_t i = 0; i < times; ++i) text += *value.string();
    return budget.text(std::move(text));
  }
  std::vector<Value> items;
  for (std::uint64_t i = 0; i < times; ++i)
    items.insert(items.end(), list->items.begin(), list->items.end());
  return budget.list(std::move(items), list->is_tuple);
}

/// `%` of a string: `%s`, `%d` and `%%`.
Result<Value> formatted(const std::string& form, const Value& argument, Budget& budget) {
  const List* list = argument.list();
  const bool is_tuple = list != nullptr && list->is_tuple;
  std::string text;
  std::size_t used = 0;
  if (const auto good = budget.bytes(form.size() + sizeof(std::string)); !good) return good.error();
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%') {
      text += form[i];
      continue;
    }
    const char kind = ++i < form.size() ? form[i] : '\0';
    if (kind == '%') {
      text += '%';
      continue;
    }
    if (kind != 's' && kind != 'd')
      return template_unsupported("only '%s', '%d' and '%%' are supported in a format");
    if (is_tuple ? used >= list->items.size() : used != 0)
      return template_failed("the format has more places than there are arguments");
    const Value& value = is_tuple ? list->items[used] : argument;
    ++used;
    if (kind == 'd' && !value.is_integer()) return template_failed("'%d' needs an integer");
    const auto part = kind == 'd' ? fmt::format("{}", *value.integer()) : text_of(value, budget);
    if (!part) return part.error();
    if (const auto good = budget.bytes(part->size()); !good) return good.error();
    text += *part;
  }
  // Python lets a list or an object stay unused.
  const bool may_stay = used == 0 && !is_tuple && (list != nullptr || argument.dict() != nullptr);
  if (!may_stay && used != (is_tuple ? list->items.size() : 1))
    return template_failed("the format has fewer places than there are arguments");
  return Value(std::move(text));
}

Result<const Value*> find_member(const Dict& dict, const Value& key, Budget& budget) {
  const std::size_t key_bytes = key.string() == nullptr ? 0 : key.string()->size();
  if (const auto good = budget.search(dict.members.size(), key_bytes); !good) return good.error();
  return dict.find(key);
}

Result<int> order(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  if (const auto good = budget.work(1); !good) return good.error();
  const auto x = a.integer(), y = b.integer();
  if (x && y) return *x < *y ? -1 : *x > *y ? 1 : 0;
  const auto p = a.number(), q = b.number();
  if (p && q) return *p < *q ? -1 : *p > *q ? 1 : 0;
  if (a.string() != nullptr && b.string() != nullptr) {
    const std::size_t common = std::min(a.string()->size(), b.string()->size());
    if (const auto good = budget.work(common / 16); !good) return good.error();
    const int difference = a.string()->compare(*b.string());
    return difference < 0 ? -1 : difference > 0 ? 1 : 0;
  }
  const List *left = a.list(), *right = b.list();
  if (left == nullptr || right == nullptr || left->is_tuple != right->is_tuple)
    return types_refused(op, a, b);
  const std::size_t common = std::min(left->items.size(), right->items.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto same = equal(left->items[i], right->items[i], budget);
    if (!same) return same.error();
    if (*same) continue;
    return order(op, left->items[i], right->items[i], budget);
  }
  return left->items.size() < right->items.size()   ? -1
         : left->items.size() > right->items.size() ? 1
                                                    : 0;
}

Result<bool> contains(const Value& whole, const Value& part, Budget& budget) {
  if (whole.is_undefined()) return false;
  if (const std::string* text = whole.string()) {
    if (part.is_undefined()) return undefined_used(part);
    if (part.string() == nullptr)
      return template_failed(
          fmt::format("'in' of a string needs a string, found a value of type "
                      "'{}'",
                      part.type_name()));
    const auto at = find_text(*text, *part.string(), false, budget);
    if (!at) return at.error();
    return *at != text->npos;
  }
  if (const List* list = whole.list()) {
    for (const Value& item : list->items) {
      const auto same = equal(item, part, budget);
      if (!same || *same) return same;
    }
    return false;
  }
  if (const Dict* dict = whole.dict()) {
    const auto found = find_member(*dict, part, budget);
    if (!found) return found.error();
    return *found != nullptr;
  }
  return template_failed(fmt::format("'in' does not take a value of type '{}'", whole.type_name()));
}

Result<Value> missing_attribute(const Value& value, std::string_view name, Budget& budget) {
  if (const auto good = budget.bytes(2 * sizeof(std::string)); !good) return good.error();
  return Value(Undefined{fmt::format("a value of type '{}' has no attribute '{}'",
                                     value.type_name(), short_name(name))});
}

Result<Value> loop_attribute(const LoopState& loop, std::string_view name) {
  const auto integer = [](std::size_t number) { return Value(static_cast<std::int64_t>(number)); };
  const std::size_t count = loop.items.size();
  if (name == "index") return integer(loop.index + 1);
  if (name == "index0") return integer(loop.index);
  if (name == "revindex") return integer(count - loop.index);
  if (name == "revindex0") return integer(count - loop.index - 1);
  if (name == "first") return Value(loop.index == 0);
  if (name == "last") return Value(loop.index + 1 == count);
  if (name == "length") return integer(count);
  // Only recursive loops are deeper.
  if (name == "depth") return integer(1);
  if (name == "depth0") return integer(0);
  if (name == "previtem")
    return loop.index == 0 ? Value(Undefined{"there is no previous item"})
                           : loop.items[loop.index - 1];
  if (name == "nextitem")
    return loop.index + 1 == count ? Value(Undefined{"there is no next item"})
                                   : loop.items[loop.index + 1];
  return template_unsupported(fmt::format("'loop.{}' is not supported", name));
}

/// The place of an index that counts from the end if it is negative.
std::optional<std::size_t> place(std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < -count || index >= count) return std::nullopt;
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

/// The byte that lies `count` code points after a byte, or before it if negative. Stops at the
/// ends.
std::size_t move_code_points(std::string_view text, std::size_t at, std::int64_t count) {
  for (; count > 0 && at < text.size(); --count) at += code_point_at(text, at).bytes;
  for (; count < 0 && at > 0; ++count) {
    --at;
    while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
  }
  return at;
}

}  // namespace

Result<bool> equal(const Value& a, const Value& b, Budget& budget) {
  if (const auto good = budget.work(1); !good) return good.error();
  const std::string *text = a.string(), *other_text = b.string();
  if (text != nullptr && other_text != nullptr) {
    if (text->size() != other_text->size()) return false;
    if (const auto good = budget.work(text->size() / 16); !good) return good.error();
    return *text == *other_text;
  }
  const List *left = a.list(), *right = b.list();
  if (left != nullptr && right != nullptr) {
    if (left == right) return true;
    if (left->is_tuple != right->is_tuple || left->items.size() != right->items.size())
      return false;
    for (std::size_t i = 0; i < left->items.size(); ++i) {
      const auto same = equal(left->items[i], right->items[i], budget);
      if (!same || !*same) return same;
    }
    return true;
  }
  const Dict *members = a.dict(), *others = b.dict();
  if (members == nullptr || others == nullptr) return a == b;
  if (members == others) return true;
  if (members->members.size() != others->members.size()) return false;
  for (const auto& [key, value] : members->members) {
    const auto other = find_member(*others, key, budget);
    if (!other) return other.error();
    if (*other == nullptr) return false;
    const auto same = equal(value, **other, budget);
    if (!same || !*same) return same;
  }
  return true;
}

Result<std::size_t> find_text(std::string_view text, std::string_view part, bool from_right,
                              Budget& budget) {
  if (part.empty()) return from_right ? text.size() : std::size_t{0};
  if (part.size() > text.size()) return text.npos;
  const std::size_t last = text.size() - part.size();
  std::size_t at = from_right ? last : 0;
  while (true) {
    const std::size_t found =
        from_right ? text.rfind(part.front(), at) : text.find(part.front(), at);
    const std::size_t end = found == text.npos ? (from_right ? 0 : text.size()) : found;
    const std::size_t skipped = from_right ? at - end : end - at;
    if (const auto good = budget.work(1 + skipped / 16 + part.size() / 16); !good)
      return good.error();
    if (found == text.npos || found > last) return text.npos;
    if (text.substr(found, part.size()) == part) return found;
    if (from_right ? found == 0 : found == last) return text.npos;
    at = from_right ? found - 1 : found + 1;
  }
}

Result<std::string_view> strip(std::string_view text, const std::string* characters, bool left,
                               bool right, Budget& budget) {
  // Each code point at an end is looked up among the characters.
  const std::size_t each = characters == nullptr ? 0 : characters->size() / 4;
  if (const auto good = budget.work(1 + text.size() / 16 * (1 + each)); !good) return good.error();
  if (left) text = strip_left(text, characters);
  return right ? strip_right(text, characters) : text;
}

Result<Value> binary_operation(std::string_view op, const Value& a, const Value& b,
                               Budget& budget) {
  const auto x = a.integer(), y = b.integer();
  if (x && y) return integer_operation(op, *x, *y);
  const auto p = a.number(), q = b.number();
  if (p && q) return float_operation(op, *p, *q);
  if (op == "+" && a.string() != nullptr && b.string() != nullptr) {
    if (const auto good = budget.bytes(a.string()->size() + b.string()->size()); !good)
      return good.error();
    return Value(*a.string() + *b.string());
  }
  const List *left = a.list(), *right = b.list();
  if (op == "+" && left != nullptr && right != nullptr && left->is_tuple == right->is_tuple) {
    std::vector<Value> items = left->items;
    items.insert(items.end(), right->items.begin(), right->items.end());
    return budget.list(std::move(items), left->is_tuple);
  }
  const auto is_sequence = [](const Value& value) {
    return value.string() != nullptr || value.list() != nullptr;
  };
  if (op == "*" && is_sequence(a) && y) return repeated(a, *y, budget);
  if (op == "*" && is_sequence(b) && x) return repeated(b, *x, budget);
  if (op == "%" && a.string() != nullptr) return formatted(*a.string(), b, budget);
  return types_refused(op, a, b);
}

Result<bool> compare(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  if (const auto good = budget.work(1); !good) return good.error();
  if (op == "==") return equal(a, b, budget);
  if (op == "!=") {
    const auto same = equal(a, b, budget);
    return same ? Result<bool>(!*same) : same;
  }
  if (op == "in") return contains(b, a, budget);
  if (op == "not in") {
    const auto found = contains(b, a, budget);
    return found ? Result<bool>(!*found) : found;
  }
  // No order holds for NaN.
  const auto p = a.number(), q = b.number();
  if (p && q && (std::isnan(*p) || std::isnan(*q))) return false;
  const auto ordered = order(op, a, b, budget);
  if (!ordered) return ordered.error();
  if (op == "<") return *ordered < 0;
  if (op == "<=") return *ordered <= 0;
  if (op == ">") return *ordered > 0;
  return *ordered >= 0;
}

Result<Value> negated(const Value& value, bool is_negative) {
  if (const auto integer = value.integer())
    return is_negative ? integer_operation("-", 0, *integer) : Value(*integer);
  if (const auto number = value.number()) return Value(is_negative ? -*number : *number);
  if (value.is_undefined()) return undefined_used(value);
  return template_failed(
      fmt::format("a sign cannot precede a value of type '{}'", value.type_name()));
}

Result<Value> attribute_of(const Value& value, std::string_view name, Budget& budget) {
  if (value.is_undefined()) return undefined_used(value);
  if (has_method(value, name))
    return template_unsupported(fmt::format("method '{}' without a call is not supported", name));
  const Value* found = nullptr;
  const Dict* dict = value.dict();
  const Namespace* space = value.space();
  const std::size_t entries = dict != nullptr    ? dict->members.size()
                              : space != nullptr ? space->members.size()
                                                 : 0;
  if (const auto good = budget.search(entries, name.size()); !good) return good.error();
  if (dict != nullptr) found = dict->find(name);
  if (space != nullptr) found = space->find(name);
  if (const LoopState* loop = value.loop()) return loop_attribute(*loop, name);
  return found == nullptr ? missing_attribute(value, name, budget) : *found;
}

Result<Value> item_of(const Value& value, const Value& key, Budget& budget) {
  if (value.is_undefined()) return undefined_used(value);
  if (const Dict* dict = value.dict()) {
    const auto found = find_member(*dict, key, budget);
    if (!found) return found.error();
    if (*found != nullptr) return **found;
  }
  const auto index = key.integer();
  if (const List* list = value.list(); list != nullptr && index) {
    const auto at = place(*index, list->items.size());
    return at ? list->items[*at] : Value(Undefined{fmt::format("the list has no item {}", *index)});
  }
  if (const std::string* text = value.string(); text != nullptr && index) {
    if (const auto good = budget.work(text->size() / 16); !good) return good.error();
    const auto found = place(*index, count_code_points(*text));
    if (!found) return Value(Undefined{fmt::format("the string has no character {}", *index)});
    const std::size_t at = move_code_points(*text, 0, static_cast<std::int64_t>(*found));
    return budget.text(text->substr(at, code_point_at(*text, at).bytes));
  }
  if (const std::string* name = key.string()) return attribute_of(value, *name, budget);
  return missing_attribute(value, index ? fmt::format("{}", *index) : std::string(key.type_name()),
                           budget);
}

Result<Value> slice_of(const Value& value, const Value* begin, const Value* end, const Value* step,
                       Budget& budget) {
  const std::string* text = value.string();
  const List* list = value.list();
  if (text == nullptr && list == nullptr)
    return value.is_undefined() ? Result<Value>(undefined_used(value))
                                : missing_attribute(value, "slice", budget);
  const auto bound = [](const Value* given) -> Result<std::optional<std::int64_t>> {
    if (given == nullptr || given->is_none()) return std::optional<std::int64_t>();
    if (const auto integer = given->integer()) return std::optional(*integer);
    return given->is_undefined() ? undefined_used(*given)
                                 : template_failed("a bound of a slice must be an integer");
  };
  const auto first = bound(begin), last = bound(end), stride = bound(step);
  for (const auto* each : {&first, &last, &stride})
    if (!*each) return each->error();
  const std::int64_t by = stride->value_or(1);
  if (by == 0) return template_failed("the step of a slice is 0");
  if (const auto good = budget.work(text == nullptr ? 1 : text->size() / 8); !good)
    return good.error();
  const auto size =
      static_cast<std::int64_t>(text == nullptr ? list->items.size() : count_code_points(*text));
  const std::int64_t lowest = by > 0 ? 0 : -1, highest = by > 0 ? size : size - 1;
  const auto clamped = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
    if (!given) return otherwise;
    const std::int64_t at = *given < 0 ? std::max(*given, -size - 1) + size : *given;
    return std::clamp(at, lowest, highest);
  };
  const std::int64_t from = clamped(*first, by > 0 ? lowest : highest);
  const std::int64_t to = clamped(*last, by > 0 ? highest : lowest);
  std::string new_text;
  std::vector<Value> items;
  std::size_t byte = text == nullptr ? 0 : move_code_points(*text, 0, from);
  for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
    if (text == nullptr) {
      items.push_back(list->items[static_cast<std::size_t>(i)]);
    } else {
      new_text.append(*text, byte, code_point_at(*text, byte).bytes);
      byte = move_code_points(*text, byte, by);
    }
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  if (text != nullptr) return budget.text(std::move(new_text));
  return budget.list(std::move(items), list->is_tuple);
}

Result<std::vector<Value>> items_of(const Value& value, Budget& budget) {
  std::vector<Value> items;
  if (value.is_undefined()) return items;
  if (const List* list = value.list()) {
    if (const auto good = budget.bytes(list->items.size() * sizeof(Value)); !good)
      return good.error();
    return list->items;
  }
  if (const Dict* dict = value.dict()) {
    if (const auto good = budget.bytes(dict->members.size() * sizeof(Value)); !good)
      return good.error();
    for (const auto& member : dict->members) items.push_back(member.first);
    return items;
  }
  if (const std::string* text = value.string()) {
    if (const auto good = budget.bytes(text->size() * (sizeof(Value) + sizeof(std::string))); !good)
      return good.error();
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t bytes = code_point_at(*text, at).bytes;
      items.emplace_back(text->substr(at, bytes));
      at += bytes;
    }
    return items;
  }
  return template_failed(fmt::format("a value of type '{}' has no items", value.type_name()));
}

Result<std::int64_t> length_of(const Value& value, Budget& budget) {
  if (value.is_undefined()) return std::int64_t{0};
  if (const List* list = value.list()) return static_cast<std::int64_t>(list->items.size());
  if (const Dict* dict = value.dict()) return static_cast<std::int64_t>(dict->members.size());
  if (const std::string* text = value.string()) {
    if (const auto good = budget.work(text->size() / 16); !good) return good.error();
    return static_cast<std::int64_t>(count_code_points(*text));
  }
  return template_failed(fmt::format("a value of type '{}' has no length", value.type_name()));
}

}  // namespace mir::chat
