// Methods of strings and objects in chat templates, as Python has them.
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "chat/characters.hpp"
#include "chat/operations.hpp"
#include "support/number_text.hpp"

namespace mir::chat {
namespace {

constexpr std::string_view kDictMethods[] = {"clear",      "copy",   "fromkeys", "get",
                                             "items",      "keys",   "pop",      "popitem",
                                             "setdefault", "update", "values"};
constexpr std::string_view kListMethods[] = {"append", "clear",   "copy",   "count",
                                             "extend", "index",   "insert", "pop",
                                             "remove", "reverse", "sort"};
constexpr std::string_view kStringMethods[] = {
    "capitalize",   "casefold",    "center",    "count",      "encode",       "endswith",
    "expandtabs",   "find",        "format",    "format_map", "index",        "isalnum",
    "isalpha",      "isascii",     "isdecimal", "isdigit",    "isidentifier", "islower",
    "isnumeric",    "isprintable", "isspace",   "istitle",    "isupper",      "join",
    "ljust",        "lower",       "lstrip",    "maketrans",  "partition",    "removeprefix",
    "removesuffix", "replace",     "rfind",     "rindex",     "rjust",        "rpartition",
    "rsplit",       "rstrip",      "split",     "splitlines", "startswith",   "strip",
    "swapcase",     "title",       "translate", "upper",      "zfill"};

Result<Value> stripped(std::string_view name, const std::string& text, ArgumentReader& arguments,
                       Budget& budget) {
  const Value* given = arguments.next("chars");
  const bool is_default = given == nullptr || given->is_none();
  if (!is_default && given->string() == nullptr)
    return template_failed(fmt::format("'{}' needs a string of characters", name));
  const std::string* characters = is_default ? nullptr : given->string();
  const auto rest = strip(text, characters, name != "rstrip", name != "lstrip", budget);
  if (!rest) return rest.error();
  return budget.text(std::string(*rest));
}

/// Adds a part of a text, counted.
Result<void> add_part(std::vector<std::string_view>& parts, std::string_view part, Budget& budget) {
  if (const auto good = budget.bytes(sizeof(std::string_view)); !good) return good;
  parts.push_back(part);
  return {};
}

/// Parts between white space, at most `most` cuts, from the left or the right.
Result<std::vector<std::string_view>> split_at_spaces(std::string_view text, std::int64_t most,
                                                      bool from_right, Budget& budget) {
  std::vector<std::string_view> parts;
  if (from_right) {
    text = strip_right(text);
    while (!text.empty()) {
      if (std::cmp_equal(parts.size(), most)) {
        if (const auto good = add_part(parts, text, budget); !good) return good.error();
        break;
      }
      std::size_t begin = text.size();
      while (begin > 0) {
        std::size_t at = begin - 1;
        while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
        if (is_space(code_point_at(text, at).value)) break;
        begin = at;
      }
      if (const auto good = add_part(parts, text.substr(begin), budget); !good) return good.error();
      text = strip_right(text.substr(0, begin));
    }
    std::ranges::reverse(parts);
    return parts;
  }
  text = strip_left(text);
  while (!text.empty()) {
    if (std::cmp_equal(parts.size(), most)) {
      if (const auto good = add_part(parts, text, budget); !good) return good.error();
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_space(code_point_at(text, end).value))
      end += code_point_at(text, end).bytes;
    if (const auto good = add_part(parts, text.substr(0, end), budget); !good) return good.error();
    text = strip_left(text.substr(std::min(end, text.size())));
  }
  return parts;
}

Result<std::vector<std::string_view>> split_at(std::string_view text, std::string_view separator,
                                               std::int64_t most, bool from_right, Budget& budget) {
  std::vector<std::string_view> parts;
  while (!std::cmp_equal(parts.size(), most)) {
    const auto at = find_text(text, separator, from_right, budget);
    if (!at) return at.error();
    if (*at == text.npos) break;
    const std::string_view before = text.substr(0, *at),
                           after = text.substr(*at + separator.size());
    if (const auto good = add_part(parts, from_right ? after : before, budget); !good)
      return good.error();
    text = from_right ? before : after;
  }
  if (const auto good = add_part(parts, text, budget); !good) return good.error();
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

Result<Value> list_of(const Result<std::vector<std::string_view>>& parts, Budget& budget) {
  if (!parts) return parts.error();
  std::vector<Value> items;
  for (const std::string_view each : *parts) {
    if (const auto good = budget.bytes(each.size() + sizeof(std::string)); !good)
      return good.error();
    items.emplace_back(each);
  }
  return budget.list(std::move(items));
}

Result<Value> split(const std::string& text, ArgumentReader& arguments, bool from_right,
                    Budget& budget) {
  const Value* separator = arguments.next("sep");
  const auto most = arguments.integer("maxsplit", -1);
  if (!most) return most.error();
  if (separator == nullptr || separator->is_none())
    return list_of(split_at_spaces(text, *most, from_right, budget), budget);
  const std::string* mark = separator->string();
  if (mark == nullptr || mark->empty()) return template_failed("'split' needs a separator");
  return list_of(split_at(text, *mark, *most, from_right, budget), budget);
}

Result<Value> begins_or_ends(const std::string& text, ArgumentReader& arguments, bool begins,
                             Budget& budget) {
  const auto part = arguments.needed("prefix");
  if (!part) return part;
  const auto holds = [&](const Value& each) -> Result<bool> {
    const std::string* other = each.string();
    const std::size_t compared = other == nullptr ? 0 : std::min(other->size(), text.size());
    if (const auto good = budget.work(1 + compared / 16); !good) return good.error();
    return other != nullptr && (begins ? text.starts_with(*other) : text.ends_with(*other));
  };
  if (const List* list = part->list()) {
    for (const Value& each : list->items) {
      const auto found = holds(each);
      if (!found) return found.error();
      if (*found) return Value(true);
    }
    return Value(false);
  }
  if (part->string() == nullptr)
    return template_failed("'startswith' and 'endswith' need a string or a tuple of them");
  const auto found = holds(*part);
  return found ? Value(*found) : Result<Value>(found.error());
}

Result<std::string_view> needed_text(ArgumentReader& arguments, std::string_view parameter) {
  const Value* given = arguments.next(parameter);
  if (given == nullptr || given->string() == nullptr)
    return template_failed(fmt::format("'replace': argument '{}' must be a string", parameter));
  return std::string_view(*given->string());
}

Result<Value> replaced(const std::string& text, ArgumentReader& arguments, Budget& budget) {
  const auto old_text = needed_text(arguments, "old"), new_text = needed_text(arguments, "new");
  constexpr std::size_t kNone = std::string_view::npos;
  auto most = arguments.integer("count", -1);
  for (const auto* each : {&old_text, &new_text})
    if (!*each) return each->error();
  if (!most) return most.error();
  std::uint64_t left =
      *most < 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(*most);
  std::string result;
  std::size_t at = 0;
  while (left-- > 0) {
    std::size_t found = 0;
    if (old_text->empty()) {
      // The text goes before each character and to the end.
      found = at == 0 && result.empty() ? 0
              : at < text.size()        ? at + code_point_at(text, at).bytes
                                        : kNone;
    } else {
      const std::string_view rest = std::string_view(text).substr(at);
      const auto next = find_text(rest, *old_text, false, budget);
      if (!next) return next.error();
      found = *next == kNone ? kNone : at + *next;
    }
    if (found == kNone || found > text.size()) break;
    if (const auto good = budget.bytes(new_text->size() + 1); !good) return good.error();
    result.append(text, at, found - at);
    result += *new_text;
    at = found + old_text->size();
    if (old_text->empty() && new_text->empty()) break;
  }
  result.append(text, std::min(at, text.size()));
  return budget.text(std::move(result));
}

Result<Value> joined(const std::string& text, ArgumentReader& arguments, Budget& budget) {
  const auto given = arguments.needed("iterable");
  if (!given) return given;
  const auto items = items_of(*given, budget);
  if (!items) return items.error();
  std::string result;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string* part = (*items)[i].string();
    if (part == nullptr) return template_failed("'join' needs strings");
    if (const auto good = budget.bytes(part->size() + text.size()); !good) return good.error();
    if (i != 0) result += text;
    result += *part;
  }
  return Value(std::move(result));
}

/// Index in code points of a part; -1 if it does not occur.
Result<Value> found(const std::string& text, ArgumentReader& arguments, bool from_right,
                    Budget& budget) {
  const auto part = arguments.text("sub", "");
  if (!part) return part.error();
  const auto at = find_text(text, *part, from_right, budget);
  if (!at) return at.error();
  if (*at == text.npos) return Value(std::int64_t{-1});
  if (const auto good = budget.work(*at / 16); !good) return good.error();
  return Value(static_cast<std::int64_t>(count_code_points(std::string_view(text).substr(0, *at))));
}

Result<Value> counted(const std::string& text, ArgumentReader& arguments, Budget& budget) {
  const auto part = arguments.text("sub", "");
  if (!part) return part.error();
  if (part->empty()) return Value(static_cast<std::int64_t>(count_code_points(text)) + 1);
  std::int64_t count = 0;
  for (std::string_view rest = text;; ++count) {
    const auto at = find_text(rest, *part, false, budget);
    if (!at) return at.error();
    if (*at == rest.npos) return Value(count);
    rest.remove_prefix(*at + part->size());
  }
}

/// `format` with `{}`, `{0}` and `{name}`.
Result<Value> formatted(const std::string& text, const Arguments& arguments, Budget& budget) {
  std::string result;
  std::size_t next = 0;
  if (const auto good = budget.bytes(text.size() + sizeof(std::string)); !good) return good.error();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      result += c;
      ++i;
      continue;
    }
    if (c == '}') return template_failed("'format': unmatched '}'");
    if (c != '{') {
      result += c;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == text.npos) return template_failed("'format': a '{' has no '}'");
    const std::string name = text.substr(i + 1, end - i - 1);
    i = end;
    const auto index =
        name.empty() ? std::optional(static_cast<std::int64_t>(next++)) : read_integer(name);
    const Value* value = nullptr;
    if (const auto good = budget.search(arguments.named.size(), name.size()); !good)
      return good.error();
    if (index && *index >= 0 && std::cmp_less(*index, arguments.positional.size()))
      value = &arguments.positional[static_cast<std::size_t>(*index)];
    for (const auto& [key, each] : arguments.named)
      if (!index && key == name) value = &each;
    if (name.find_first_of(".[:!") != name.npos)
      return template_unsupported("'format': only '{}', '{0}' and '{name}' are supported");
    if (value == nullptr)
      return template_failed(fmt::format("'format' has no argument '{}'", short_name(name)));
    const auto part = text_of(*value, budget);
    if (!part) return part.error();
    if (const auto good = budget.bytes(part->size()); !good) return good.error();
    result += *part;
  }
  return Value(std::move(result));
}

template <class Holds>
bool all_code_points(const std::string& text, const Holds& holds) {
  bool all = !text.empty();
  for_each_code_point(
      text, [&](std::string_view each) { all = all && holds(code_point_at(each, 0).value); });
  return all;
}

Result<Value> call_string(const std::string& text, std::string_view name, ArgumentReader& reader,
                          Budget& budget) {
  if (name == "startswith" || name == "endswith")
    return begins_or_ends(text, reader, name == "startswith", budget);
  if (const auto good = budget.work(text.size() / 16); !good) return good.error();
  if (name == "strip" || name == "lstrip" || name == "rstrip")
    return stripped(name, text, reader, budget);
  if (name == "split" || name == "rsplit") return split(text, reader, name == "rsplit", budget);
  if (name == "replace") return replaced(text, reader, budget);
  if (name == "join") return joined(text, reader, budget);
  if (name == "find" || name == "rfind") return found(text, reader, name == "rfind", budget);
  if (name == "count") return counted(text, reader, budget);
  if (name == "upper") return budget.text(to_upper(text));
  if (name == "lower") return budget.text(to_lower(text));
  if (name == "capitalize") return budget.text(capitalized(text));
  if (name == "title") return budget.text(titled(text));
  if (name == "splitlines") return list_of(split_lines(text, budget), budget);
  if (name == "removeprefix" || name == "removesuffix") {
    const auto part = reader.text("prefix", "");
    if (!part) return part.error();
    const bool is_prefix = name == "removeprefix";
    const bool has_part = is_prefix ? text.starts_with(*part) : text.ends_with(*part);
    if (!has_part) return budget.text(text);
    const std::size_t rest = text.size() - part->size();
    return budget.text(text.substr(is_prefix ? part->size() : 0, rest));
  }
  if (name == "isspace") return Value(all_code_points(text, is_space));
  if (name == "isdecimal")
    return Value(all_code_points(text, [](char32_t c) {
      return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
    }));
  return template_unsupported(fmt::format("method '{}' of a string is not supported", name));
}

Result<Value> call_dict(const Dict& dict, std::string_view name, ArgumentReader& reader,
                        Budget& budget) {
  if (name == "get") {
    const auto key = reader.needed("key");
    if (!key) return key;
    const Value* otherwise = reader.next("default");
    const std::size_t key_bytes = key->string() == nullptr ? 0 : key->string()->size();
    if (const auto good = budget.search(dict.members.size(), key_bytes); !good) return good.error();
    if (const Value* found_value = dict.find(*key)) return *found_value;
    return otherwise == nullptr ? Value(None{}) : *otherwise;
  }
  std::vector<Value> items;
  for (const auto& [key, value] : dict.members) {
    if (name == "keys") {
      items.push_back(key);
    } else if (name == "values") {
      items.push_back(value);
    } else if (name == "items") {
      auto pair = budget.list({key, value}, true);
      if (!pair) return pair;
      items.push_back(*std::move(pair));
    } else {
      break;
    }
  }
  if (name == "keys" || name == "values" || name == "items") return budget.list(std::move(items));
  return template_unsupported(fmt::format("method '{}' of an object is not supported", name));
}

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<std::vector<std::string_view>> split_lines(std::string_view text, Budget& budget) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    const std::size_t after = at + point.bytes;
    const bool ends = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    if (!ends) {
      at = after;
      continue;
    }
    if (const auto good = add_part(lines, text.substr(begin, at - begin), budget); !good)
      return good.error();
    at = after + (c == '\r' && after < text.size() && text[after] == '\n' ? 1 : 0);
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

bool has_method(const Value& value, std::string_view name) {
  if (value.dict() != nullptr) return is_among(name, kDictMethods);
  if (value.list() != nullptr) return is_among(name, kListMethods);
  return value.string() != nullptr && is_among(name, kStringMethods);
}

Result<Value> call_method(const Value& object, std::string_view name, const Arguments& arguments,
                          Budget& budget) {
  if (name == "format" && object.string() != nullptr)
    return formatted(*object.string(), arguments, budget);
  ArgumentReader reader(name, arguments);
  auto result = Result<Value>(Value());
  if (const std::string* text = object.string()) {
    result = call_string(*text, name, reader, budget);
  } else if (const Dict* dict = object.dict()) {
    result = call_dict(*dict, name, reader, budget);
  } else {
    return template_unsupported(
        fmt::format("method '{}' of a list is not supported: templates do not change lists", name));
  }
  if (!result) return result;
  const auto good = reader.finish();
  return good ? std::move(result) : Result<Value>(good.error());
}

}  // namespace mir::chat
