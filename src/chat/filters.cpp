// Filters of chat templates, with the parameters that Jinja gives them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "chat/characters.hpp"
#include "chat/operations.hpp"
#include "mir/codes/limits.hpp"
#include "support/number_text.hpp"
#include "support/suggest.hpp"

namespace mir::chat {
namespace {

using Filter = Result<Value> (*)(const Value& operand, ArgumentReader& arguments, Budget& budget);

/// Small letters for comparisons in which the case does not count.
Result<Value> folded(const Value& value, bool case_counts, Budget& budget) {
  const std::string* text = value.string();
  if (text == nullptr || case_counts) return value;
  if (const auto good = budget.work(text->size() / 16); !good) return good.error();
  return budget.text(to_lower(*text));
}

/// The attribute that a dotted path such as `function.name` names.
Result<Value> attribute_by_path(const Value& value, std::string_view path, Budget& budget) {
  Value at = value;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    if (const auto good = budget.work(1 + name.size() / 16); !good) return good.error();
    const auto index = read_integer(name);
    auto next = item_of(at, index ? Value(*index) : Value(name), budget);
    if (!next || dot == path.npos) return next;
    at = *std::move(next);
    path.remove_prefix(dot + 1);
  }
}

/// The value, or its attribute if `attribute` is a path.
Result<Value> key_of(const Value& value, const Value* attribute, Budget& budget) {
  if (attribute == nullptr || attribute->is_none()) return value;
  if (const std::string* path = attribute->string()) return attribute_by_path(value, *path, budget);
  return item_of(value, *attribute, budget);
}

/// Sorts by keys, stably. The first comparison that fails decides the result.
Result<std::vector<Value>> sorted(std::vector<std::pair<Value, Value>> keyed, bool reversed,
                                  Budget& budget) {
  std::optional<Error> problem;
  const auto count = keyed.size();
  if (const auto good = budget.work(count * 8); !good) return good.error();
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    if (problem) return false;
    const auto less =
        reversed ? compare("<", b.first, a.first, budget) : compare("<", a.first, b.first, budget);
    if (!less) problem = less.error();
    return less && *less;
  });
  if (problem) return *problem;
  std::vector<Value> items;
  for (auto& each : keyed) items.push_back(std::move(each.second));
  return items;
}

Result<Value> text_filter(const Value& operand, Budget& budget,
                          std::string (*map)(std::string_view)) {
  const auto text = text_of(operand, budget);
  if (!text) return text.error();
  return budget.text(map(*text));
}

/// Jinja's title, which begins words after spaces, `-`, `(`, `{`, `[` and `<` only.
std::string title_of_words(std::string_view text) {
  std::string result;
  bool is_first = true;
  for_each_code_point(text, [&](std::string_view each) {
    const char32_t c = code_point_at(each, 0).value;
    const bool separates = is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    result += separates ? std::string(each) : is_first ? to_upper(each) : to_lower(each);
    is_first = separates;
  });
  return result;
}

Result<Value> trim(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto text = text_of(operand, budget);
  if (!text) return text.error();
  const Value* characters = arguments.next("chars");
  const std::string* set = characters == nullptr ? nullptr : characters->string();
  if (characters != nullptr && !characters->is_none() && set == nullptr)
    return template_failed("'trim' needs a string of characters");
  const auto rest = strip(*text, set, true, true, budget);
  if (!rest) return rest.error();
  return budget.text(std::string(*rest));
}

Result<Value> join(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto separator = arguments.text("d", "");
  const Value* attribute = arguments.next("attribute");
  const auto items = items_of(operand, budget);
  if (!separator) return separator.error();
  if (!items) return items.error();
  std::string text;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto item = key_of((*items)[i], attribute, budget);
    if (!item) return item.error();
    const auto part = text_of(*item, budget);
    if (!part) return part.error();
    if (const auto good = budget.bytes(part->size() + separator->size()); !good)
      return good.error();
    if (i != 0) text += *separator;
    text += *part;
  }
  return Value(std::move(text));
}

Result<Value> replace(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto text = text_of(operand, budget);
  if (!text) return text.error();
  Arguments given;
  for (const std::string_view name : {"old", "new"}) {
    auto each = arguments.needed(name);
    if (!each) return each;
    const auto as_text = text_of(*each, budget);
    if (!as_text) return as_text.error();
    given.positional.emplace_back(*as_text);
  }
  if (const Value* count = arguments.next("count"); count != nullptr && !count->is_none())
    given.positional.push_back(*count);
  return call_method(Value(*text), "replace", given, budget);
}

Result<Value> otherwise(const Value& operand, ArgumentReader& arguments, Budget&) {
  const Value* value = arguments.next("default_value");
  const auto also_false = arguments.boolean("boolean", false);
  if (!also_false) return also_false.error();
  const bool is_missing = operand.is_undefined() || (*also_false && !operand.truth());
  if (!is_missing) return operand;
  return value == nullptr ? Value("") : *value;
}

Result<Value> end_of(const Value& operand, bool is_first, Budget& budget) {
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  if (items->empty()) return Value(Undefined{"there is no item"});
  return is_first ? items->front() : items->back();
}

Result<Value> pairs(const Value& operand, ArgumentReader&, Budget& budget) {
  if (operand.is_undefined()) return budget.list({});
  if (operand.dict() == nullptr)
    return template_failed(
        fmt::format("'items' does not take a value of type '{}'", operand.type_name()));
  return call_method(operand, "items", {}, budget);
}

Result<Value> dictsort(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto case_counts = arguments.boolean("case_sensitive", false);
  const auto by = arguments.text("by", "key");
  const auto reversed = arguments.boolean("reverse", false);
  if (!by) return by.error();
  if (*by != "key" && *by != "value")
    return template_failed("'dictsort' sorts by 'key' or 'value'");
  if (operand.dict() == nullptr)
    return template_failed(
        fmt::format("'dictsort' does not take a value of type '{}'", operand.type_name()));
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, value] : operand.dict()->members) {
    auto pair = budget.list({key, value}, true);
    if (!pair) return pair;
    auto own = folded(*by == "key" ? key : value, *case_counts, budget);
    if (!own) return own;
    keyed.emplace_back(*std::move(own), *std::move(pair));
  }
  auto items = sorted(std::move(keyed), *reversed, budget);
  if (!items) return items.error();
  return budget.list(*std::move(items));
}

Result<Value> sort(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto reversed = arguments.boolean("reverse", false);
  const auto case_counts = arguments.boolean("case_sensitive", false);
  const Value* attribute = arguments.next("attribute");
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& each : *items) {
    const auto key = key_of(each, attribute, budget);
    if (!key) return key.error();
    auto own = folded(*key, *case_counts, budget);
    if (!own) return own;
    keyed.emplace_back(*std::move(own), each);
  }
  auto result = sorted(std::move(keyed), *reversed, budget);
  if (!result) return result.error();
  return budget.list(*std::move(result));
}

Result<Value> unique(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto case_counts = arguments.boolean("case_sensitive", false);
  const Value* attribute = arguments.next("attribute");
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  std::vector<Value> seen, result;
  for (const Value& each : *items) {
    const auto key = key_of(each, attribute, budget);
    if (!key) return key.error();
    const auto own = folded(*key, *case_counts, budget);
    if (!own) return own;
    auto is_known = Result<bool>(false);
    for (const Value& other : seen) {
      is_known = equal(*own, other, budget);
      if (!is_known) return is_known.error();
      if (*is_known) break;
    }
    if (*is_known) continue;
    seen.push_back(*own);
    result.push_back(each);
  }
  return budget.list(std::move(result));
}

Result<Value> extreme(const Value& operand, ArgumentReader& arguments, Budget& budget,
                      std::string_view order) {
  const auto case_counts = arguments.boolean("case_sensitive", false);
  const Value* attribute = arguments.next("attribute");
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  Value best = Undefined{"there is no item"}, best_key;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto key = key_of((*items)[i], attribute, budget);
    if (!key) return key.error();
    const auto own = folded(*key, *case_counts, budget);
    if (!own) return own;
    const auto is_better = i == 0 ? Result<bool>(true) : compare(order, *own, best_key, budget);
    if (!is_better) return is_better.error();
    if (!*is_better) continue;
    best = (*items)[i];
    best_key = *own;
  }
  return best;
}

Result<Value> sum(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const Value* attribute = arguments.next("attribute");
  const Value* start = arguments.next("start");
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  Value total = start == nullptr ? Value(std::int64_t{0}) : *start;
  for (const Value& each : *items) {
    const auto item = key_of(each, attribute, budget);
    if (!item) return item;
    auto next = binary_operation("+", total, *item, budget);
    if (!next) return next;
    total = *std::move(next);
  }
  return total;
}

Result<Value> integer(const Value& operand, ArgumentReader& arguments, Budget&) {
  const auto otherwise = arguments.integer("default", 0);
  if (!otherwise) return otherwise.error();
  std::optional<double> number = operand.number();
  if (const std::string* text = operand.string()) {
    const std::string stripped(strip_left(strip_right(*text)));
    if (const auto whole = read_integer(stripped)) return Value(*whole);
    number = read_number(stripped);
  } else if (const auto whole = operand.integer()) {
    return Value(*whole);
  }
  const bool fits = number && std::fabs(*number) < 0x1p63;
  return Value(fits ? static_cast<std::int64_t>(*number) : *otherwise);
}

Result<Value> real(const Value& operand, ArgumentReader& arguments, Budget&) {
  const Value* otherwise = arguments.next("default");
  if (const auto number = operand.number()) return Value(*number);
  if (const std::string* text = operand.string()) {
    if (const auto number = read_number(strip_left(strip_right(*text)))) return Value(*number);
  }
  return otherwise == nullptr ? Value(0.0) : *otherwise;
}

Result<Value> magnitude(const Value& operand, ArgumentReader&, Budget&) {
  const auto number = operand.number();
  if (!number)
    return template_failed(
        fmt::format("'abs' does not take a value of type '{}'", operand.type_name()));
  return negated(operand, *number < 0);
}

Result<Value> rounded(const Value& operand, ArgumentReader& arguments, Budget&) {
  const auto precision = arguments.integer("precision", 0);
  const auto method = arguments.text("method", "common");
  if (!precision) return precision.error();
  if (!method) return method.error();
  if (*precision < 0 || *precision > 15)
    return template_unsupported("'round' takes a precision from 0 to 15");
  const auto number = operand.number();
  if (!number)
    return template_failed(
        fmt::format("'round' does not take a value of type '{}'", operand.type_name()));
  if (*method == "common") {
    if (operand.is_integer()) return Value(*operand.integer());
    return Value(read_number(fmt::format("{:.{}f}", *number, *precision)).value_or(*number));
  }
  double scale = 1;
  for (std::int64_t i = 0; i < *precision; ++i) scale *= 10;
  if (*method == "ceil") return Value(std::ceil(*number * scale) / scale);
  if (*method == "floor") return Value(std::floor(*number * scale) / scale);
  return template_failed("'round' takes the methods 'common', 'ceil' and 'floor'");
}

Result<Value> indent(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const Value* width = arguments.next("width");
  const auto also_first = arguments.boolean("first", false);
  const auto also_blank = arguments.boolean("blank", false);
  const auto text = text_of(operand, budget);
  if (!text) return text.error();
  std::string space(4, ' ');
  if (width != nullptr && width->string() != nullptr) {
    space = *width->string();
  } else if (width != nullptr) {
    const auto count = width->integer();
    if (!count || *count > 1000) return template_failed("'indent' takes a width of at most 1000");
    space.assign(static_cast<std::size_t>(std::max<std::int64_t>(*count, 0)), ' ');
  }
  const std::string ended = *text + "\n";
  const auto split = split_lines(ended, budget);
  if (!split) return split.error();
  const auto& lines = *split;
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto good = budget.bytes(lines[i].size() + space.size()); !good) return good.error();
    if (i != 0) result += '\n';
    if (i == 0 ? *also_first : *also_blank || !lines[i].empty()) result += space;
    result += lines[i];
  }
  return Value(std::move(result));
}

Result<Value> to_json(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  JsonForm form;
  const auto ascii = arguments.boolean("ensure_ascii", false);
  const auto width = arguments.integer("indent", -1);
  const Value* separators = arguments.next("separators");
  const auto sorts = arguments.boolean("sort_keys", false);
  if (!width) return width.error();
  if (*width > 100) return template_failed("'tojson' takes an indent of at most 100");
  form.ensure_ascii = *ascii;
  form.sorts_keys = *sorts;
  form.indent = static_cast<int>(std::max<std::int64_t>(*width, -1));
  if (form.indent >= 0) form.item_separator = ",";
  if (separators != nullptr && !separators->is_none()) {
    const List* pair = separators->list();
    if (pair == nullptr || pair->items.size() != 2 || pair->items[0].string() == nullptr ||
        pair->items[1].string() == nullptr)
      return template_failed("'tojson' takes two strings as separators");
    form.item_separator = *pair->items[0].string();
    form.key_separator = *pair->items[1].string();
  }
  if (operand.is_undefined()) return undefined_used(operand);
  auto text = json_of(operand, form, budget);
  if (!text) return text.error();
  return Value(*std::move(text));
}

struct FilterRow {
  std::string_view name;
  Filter filter;
};

constexpr FilterRow kFilters[] = {
    {"abs", magnitude},
    {"capitalize", [](const Value& operand, ArgumentReader&,
                      Budget& budget) { return text_filter(operand, budget, capitalized); }},
    {"count",
     [](const Value& operand, ArgumentReader&, Budget& budget) -> Result<Value> {
       const auto length = length_of(operand, budget);
       if (!length) return length.error();
       return Value(*length);
     }},
    {"d", otherwise},
    {"default", otherwise},
    {"dictsort", dictsort},
    {"first", [](const Value& operand, ArgumentReader&,
                 Budget& budget) { return end_of(operand, true, budget); }},
    {"float", real},
    {"indent", indent},
    {"int", integer},
    {"items", pairs},
    {"join", join},
    {"last", [](const Value& operand, ArgumentReader&,
                Budget& budget) { return end_of(operand, false, budget); }},
    {"length",
     [](const Value& operand, ArgumentReader&, Budget& budget) -> Result<Value> {
       const auto length = length_of(operand, budget);
       if (!length) return length.error();
       return Value(*length);
     }},
    {"list",
     [](const Value& operand, ArgumentReader&, Budget& budget) -> Result<Value> {
       auto items = items_of(operand, budget);
       if (!items) return items.error();
       return budget.list(*std::move(items));
     }},
    {"lower", [](const Value& operand, ArgumentReader&,
                 Budget& budget) { return text_filter(operand, budget, to_lower); }},
    {"max", [](const Value& operand, ArgumentReader& arguments,
               Budget& budget) { return extreme(operand, arguments, budget, ">"); }},
    {"min", [](const Value& operand, ArgumentReader& arguments,
               Budget& budget) { return extreme(operand, arguments, budget, "<"); }},
    {"replace", replace},
    {"reverse",
     [](const Value& operand, ArgumentReader&, Budget& budget) {
       const Value backwards(std::int64_t{-1});
       const bool is_dict = operand.dict() != nullptr;
       if (is_dict) {
         auto items = items_of(operand, budget);
         if (!items) return Result<Value>(items.error());
         std::ranges::reverse(*items);
         return budget.list(*std::move(items));
       }
       return slice_of(operand, nullptr, nullptr, &backwards, budget);
     }},
    {"round", rounded},
    {"safe", [](const Value& operand, ArgumentReader&, Budget&) { return Result<Value>(operand); }},
    {"sort", sort},
    {"string",
     [](const Value& operand, ArgumentReader&, Budget& budget) -> Result<Value> {
       auto text = text_of(operand, budget);
       if (!text) return text.error();
       return budget.text(*std::move(text));
     }},
    {"sum", sum},
    {"title", [](const Value& operand, ArgumentReader&,
                 Budget& budget) { return text_filter(operand, budget, title_of_words); }},
    {"tojson", to_json},
    {"trim", trim},
    {"unique", unique},
    {"upper", [](const Value& operand, ArgumentReader&,
                 Budget& budget) { return text_filter(operand, budget, to_upper); }},
};

/// `map` with an attribute or with the name of a filter and its arguments.
Result<Value> map_items(const Value& operand, const Arguments& arguments, Budget& budget) {
  // `map('map', ...)` recurses.
  constexpr std::size_t kMostNested = 16;
  std::size_t nested = 0;
  for (const Value& each : arguments.positional) {
    if (each.string() == nullptr || *each.string() != "map") break;
    ++nested;
  }
  if (nested > kMostNested)
    return Error{diag::kLimitExceeded,
                 fmt::format("'map' nests deeper than {} levels", kMostNested)};
  if (!operand.truth()) return budget.list({});
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  const Value* attribute = nullptr;
  const Value* missing = nullptr;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") attribute = &value;
    if (name == "default") missing = &value;
    if (arguments.positional.empty() && name != "attribute" && name != "default")
      return template_unsupported(
          fmt::format("'map' with the argument '{}' is not supported", short_name(name)));
  }
  const bool by_attribute = arguments.positional.empty() && attribute != nullptr;
  const std::string* filter =
      arguments.positional.empty() ? nullptr : arguments.positional.front().string();
  if (!by_attribute && filter == nullptr)
    return template_failed("'map' needs the name of a filter, or 'attribute'");
  Arguments rest = arguments;
  if (!by_attribute) rest.positional.erase(rest.positional.begin());
  std::vector<Value> result;
  for (const Value& each : *items) {
    auto mapped =
        by_attribute ? key_of(each, attribute, budget) : apply_filter(*filter, each, rest, budget);
    if (!mapped) return mapped;
    if (by_attribute && missing != nullptr && mapped->is_undefined()) mapped = *missing;
    result.push_back(*std::move(mapped));
  }
  return budget.list(std::move(result));
}

/// `select`, `reject`, `selectattr` and `rejectattr`.
Result<Value> select_items(const Value& operand, const Arguments& arguments, bool keeps,
                           bool by_attribute, Budget& budget) {
  if (!operand.truth()) return budget.list({});
  const auto items = items_of(operand, budget);
  if (!items) return items.error();
  Arguments rest = arguments;
  const auto take = [&] {
    std::optional<Value> taken;
    if (rest.positional.empty()) return taken;
    taken = std::move(rest.positional.front());
    rest.positional.erase(rest.positional.begin());
    return taken;
  };
  const auto attribute = by_attribute ? take() : std::nullopt;
  if (by_attribute && !attribute)
    return template_failed("the filter needs the name of an attribute");
  const auto test = take();
  if (test && test->string() == nullptr)
    return template_failed("the name of a test must be a string");
  std::vector<Value> result;
  for (const Value& each : *items) {
    const auto key = key_of(each, attribute ? &*attribute : nullptr, budget);
    if (!key) return key;
    const auto holds =
        test ? apply_test(*test->string(), *key, rest, budget) : Result<bool>(key->truth());
    if (!holds) return holds.error();
    if (*holds == keeps) result.push_back(each);
  }
  return budget.list(std::move(result));
}

}  // namespace

Result<Value> apply_filter(std::string_view name, const Value& operand, const Arguments& arguments,
                           Budget& budget) {
  const std::size_t bytes = operand.string() == nullptr ? 0 : operand.string()->size();
  const std::size_t given = arguments.positional.size() + arguments.named.size();
  if (const auto good = budget.work(given + bytes / 16); !good) return good.error();
  if (name == "map") return map_items(operand, arguments, budget);
  if (name == "select") return select_items(operand, arguments, true, false, budget);
  if (name == "reject") return select_items(operand, arguments, false, false, budget);
  if (name == "selectattr") return select_items(operand, arguments, true, true, budget);
  if (name == "rejectattr") return select_items(operand, arguments, false, true, budget);
  const auto row = std::ranges::find(kFilters, name, &FilterRow::name);
  if (row == std::end(kFilters))
    return template_unsupported(fmt::format("filter '{}' is not supported", short_name(name)));
  ArgumentReader reader(name, arguments);
  auto result = row->filter(operand, reader, budget);
  if (!result) return result;
  const auto good = reader.finish();
  return good ? std::move(result) : Result<Value>(good.error());
}

}  // namespace mir::chat
