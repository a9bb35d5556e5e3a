// Values as Python prints them and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chat/characters.hpp"
#include "chat/operations.hpp"

namespace mir::chat {
namespace {

/// Appends each code point by a function and counts the bytes every few thousand of them.
template <class Append>
Result<void> add_in_pieces(std::string_view text, std::string& result, Budget& budget,
                           const Append& append) {
  constexpr std::size_t kPiece = 4096;
  while (!text.empty()) {
    std::size_t end = std::min(kPiece, text.size());
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    const std::size_t before = result.size();
    for_each_code_point(text.substr(0, end), [&](std::string_view each) { append(result, each); });
    if (const auto good = budget.bytes(result.size() - before); !good) return good;
    text.remove_prefix(end);
  }
  return {};
}

/// Writes values as Python's repr does.
class ReprWriter {
 public:
  explicit ReprWriter(Budget& budget) : budget_(budget) {}

  Result<void> write(const Value& value) {
    if (const auto good = budget_.work(1); !good) return good;
    if (value.is_undefined()) return add("Undefined");
    if (value.is_none()) return add("None");
    if (value.is_boolean()) return add(value.truth() ? "True" : "False");
    if (const auto integer = value.integer()) return add(fmt::format("{}", *integer));
    if (const auto number = value.number()) return add(float_text(*number));
    if (const std::string* text = value.string()) return add_quoted(*text);
    if (const List* list = value.list()) return write(*list);
    if (const Dict* dict = value.dict()) return write(*dict);
    return template_unsupported(
        fmt::format("the text of a value of type '{}' is not supported", value.type_name()));
  }

  std::string take() { return std::move(text_); }

 private:
  Result<void> add(std::string_view text) {
    text_ += text;
    return budget_.bytes(text.size());
  }

  Result<void> write(const List& list) {
    text_ += list.is_tuple ? '(' : '[';
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i != 0) text_ += ", ";
      if (const auto good = write(list.items[i]); !good) return good;
    }
    if (list.is_tuple && list.items.size() == 1) text_ += ',';
    text_ += list.is_tuple ? ')' : ']';
    return {};
  }

  Result<void> write(const Dict& dict) {
    text_ += '{';
    for (std::size_t i = 0; i < dict.members.size(); ++i) {
      if (i != 0) text_ += ", ";
      if (const auto good = write(dict.members[i].first); !good) return good;
      text_ += ": ";
      if (const auto good = write(dict.members[i].second); !good) return good;
    }
    text_ += '}';
    return {};
  }

  Result<void> add_quoted(std::string_view text) {
    const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
    const char quote = has_single && !has_double ? '"' : '\'';
    text_ += quote;
    const auto good =
        add_in_pieces(text, text_, budget_, [&](std::string& result, std::string_view each) {
          const char32_t c = code_point_at(each, 0).value;
          if (c == static_cast<char32_t>(quote) || c == '\\') {
            result += '\\';
            result += each;
          } else if (c == '\n') {
            result += "\\n";
          } else if (c == '\r') {
            result += "\\r";
          } else if (c == '\t') {
            result += "\\t";
          } else if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) {
            result += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
          } else {
            result += each;
          }
        });
    text_ += quote;
    return good;
  }

  Budget& budget_;
  std::string text_;
};

/// Writes values as Python's json.dumps does.
class JsonWriter {
 public:
  JsonWriter(const JsonForm& form, Budget& budget) : form_(form), budget_(budget) {}

  Result<void> write(const Value& value, int level = 0) {
    if (const auto good = budget_.work(1); !good) return good;
    if (value.is_none()) return add("null");
    if (value.is_boolean()) return add(value.truth() ? "true" : "false");
    if (const auto integer = value.integer()) return add(fmt::format("{}", *integer));
    if (const auto number = value.number()) return add(json_float(*number));
    if (const std::string* text = value.string()) return add_quoted(*text);
    if (const List* list = value.list()) return write(*list, level);
    if (const Dict* dict = value.dict()) return write(*dict, level);
    return template_failed(
        fmt::format("'tojson': a value of type '{}' has no form in JSON", value.type_name()));
  }

  std::string take() { return std::move(text_); }

 private:
  Result<void> add(std::string_view text) {
    text_ += text;
    return budget_.bytes(text.size());
  }

  Result<void> begin_item(bool is_first, int level) {
    std::string_view separator = form_.item_separator;
    if (!is_first) {
      if (const auto good = add(separator); !good) return good;
    }
    return form_.indent < 0 ? Result<void>() : add(line(level));
  }
  Result<void> end_items(bool is_empty, int level) {
    return form_.indent < 0 || is_empty ? Result<void>() : add(line(level));
  }
  std::string line(int level) const {
    return "\n" + std::string(static_cast<std::size_t>(level * form_.indent), ' ');
  }

  Result<void> write(const List& list, int level) {
    text_ += '[';
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (const auto good = begin_item(i == 0, level + 1); !good) return good;
      if (const auto good = write(list.items[i], level + 1); !good) return good;
    }
    if (const auto good = end_items(list.items.empty(), level); !good) return good;
    text_ += ']';
    return {};
  }

  Result<void> write(const Dict& dict, int level) {
    std::vector<std::pair<std::string, const Value*>> members;
    for (const auto& [key, value] : dict.members) {
      auto name = key_text(key);
      if (!name) return std::move(name).error();
      members.emplace_back(*std::move(name), &value);
    }
    if (form_.sorts_keys)
      std::ranges::stable_sort(members, {}, [](const auto& each) { return each.first; });
    text_ += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (const auto good = begin_item(i == 0, level + 1); !good) return good;
      if (const auto good = add_quoted(members[i].first); !good) return good;
      if (const auto good = add(form_.key_separator); !good) return good;
      if (const auto good = write(*members[i].second, level + 1); !good) return good;
    }
    if (const auto good = end_items(members.empty(), level); !good) return good;
    text_ += '}';
    return {};
  }

  static Result<std::string> key_text(const Value& key) {
    if (const std::string* text = key.string()) return *text;
    if (key.is_none()) return std::string("null");
    if (key.is_boolean()) return std::string(key.truth() ? "true" : "false");
    if (const auto integer = key.integer()) return fmt::format("{}", *integer);
    if (const auto number = key.number()) return json_float(*number);
    return template_failed(
        fmt::format("'tojson': a key of type '{}' has no form in JSON", key.type_name()));
  }

  static std::string json_float(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_text(value);
  }

  Result<void> add_quoted(std::string_view text) {
    text_ += '"';
    const auto good =
        add_in_pieces(text, text_, budget_, [&](std::string& result, std::string_view each) {
          const char32_t c = code_point_at(each, 0).value;
          constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
          const auto letter = c < 0x80 ? kEscaped.find(static_cast<char>(c)) : kEscaped.npos;
          if (letter != kEscaped.npos) {
            result += '\\';
            result += kLetters[letter];
          } else if (c < 0x20 || (form_.ensure_ascii && c > 0x7E && c < 0x10000)) {
            result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
          } else if (form_.ensure_ascii && c >= 0x10000) {
            const auto offset = static_cast<std::uint32_t>(c) - 0x10000;
            result += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10),
                                  0xDC00 + (offset & 0x3FF));
          } else {
            result += each;
          }
        });
    text_ += '"';
    return good;
  }

  const JsonForm& form_;
  Budget& budget_;
  std::string text_;
};

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

Result<std::string> text_of(const Value& value, Budget& budget) {
  if (const std::string* text = value.string()) {
    if (const auto good = budget.work(text->size() / 16); !good) return good.error();
    return *text;
  }
  if (value.is_undefined()) return std::string();
  return repr_of(value, budget);
}

Result<std::string> repr_of(const Value& value, Budget& budget) {
  ReprWriter writer(budget);
  if (const auto good = writer.write(value); !good) return good.error();
  return writer.take();
}

Result<std::string> json_of(const Value& value, const JsonForm& form, Budget& budget) {
  JsonWriter writer(form, budget);
  if (const auto good = writer.write(value); !good) return good.error();
  return writer.take();
}

}  // namespace mir::chat
