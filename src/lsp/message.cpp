// Parses message bodies and decodes the longest string in place, to hold a large text once.
#include "lsp/message.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "support/utf8.hpp"

// note [one copy]
// The parser of JSON holds a string four times: in the body, as it was read, decoded and as a
// value. A decoded string is never longer, so the longest one is decoded where it is. The parser
// sees an empty string in its place.

namespace mir::lsp {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongString = std::size_t{1} << 16;  // shorter ones are not worth it
constexpr std::size_t kHexEscape = 6;                      // bytes of `\u` with four digits

/// A string in a JSON text.
struct Literal {
  std::size_t begin = 0, end = 0;  // without the quotes
  std::size_t number = 0;          // how many strings are before it
  std::size_t size() const { return end - begin; }
};

/// The place of the quote that ends a string; the end of the text if there is none.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  for (std::size_t quote = json.find('"', begin); quote != json.npos;
       quote = json.find('"', quote + 1)) {
    std::size_t first = quote;
    while (first != begin && json[first - 1] == '\\') --first;
    if ((quote - first) % 2 == 0) return quote;
  }
  return json.size();
}

/// Returns the longest string; no value if the text ends inside a string.
std::optional<Literal> longest_string(std::string_view json) {
  Literal longest;
  std::size_t number = 0;
  for (std::size_t quote = json.find('"'); quote != json.npos; ++number) {
    const Literal each{quote + 1, end_of_string(json, quote + 1), number};
    if (each.end == json.size()) return std::nullopt;
    if (each.size() > longest.size()) longest = each;
    quote = json.find('"', each.end + 1);
  }
  return longest;
}

bool is_key(std::string_view json, const Literal& literal) {
  const auto next = json.find_first_not_of(" \t\r\n", literal.end + 1);
  return next != json.npos && json[next] == ':';
}

/// Returns the bytes of the escapes `\u` with four digits that follow one another.
std::size_t hex_escapes(std::string_view text) {
  std::size_t size = 0;
  while (size + kHexEscape <= text.size() && text.substr(size, 2) == "\\u") size += kHexEscape;
  return size;
}

/// Decodes the escapes at the begin of a text. Returns how many bytes they take; 0: they are wrong.
std::size_t decode_escapes(std::string_view text, std::string& decoded) {
  // Two escapes may be one character.
  const std::size_t size = std::max(hex_escapes(text), std::min<std::size_t>(2, text.size()));
  Json value = Json::parse('"' + std::string(text.substr(0, size)) + '"', nullptr, false);
  if (!value.is_string()) return 0;
  decoded = std::move(value.get_ref<std::string&>());
  return size;
}

/// Decodes a string in place, so that it is the first `literal.size()` bytes or less from its begin
/// on. Returns its new end; nothing if it is not well-formed.
std::optional<std::size_t> decode_in_place(std::string& json, const Literal& literal) {
  const std::string_view text = std::string_view(json).substr(literal.begin, literal.size());
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (std::ranges::any_of(text, is_control) || !is_utf8(text)) return std::nullopt;
  std::size_t to = literal.begin, from = literal.begin;
  std::string decoded;
  const auto put = [&](const char* bytes, std::size_t size) {
    std::memmove(json.data() + to, bytes, size);
    to += size;
  };
  while (true) {
    const std::size_t escape = std::min(json.find('\\', from), literal.end);
    put(json.data() + from, escape - from);
    if (escape == literal.end) return to;
    const std::size_t size =
        decode_escapes(std::string_view(json).substr(escape, literal.end - escape), decoded);
    if (size == 0) return std::nullopt;
    put(decoded.data(), decoded.size());
    from = escape + size;
  }
}

/// The message around a string, with an empty one in its place.
std::string without(std::string_view body, const Literal& literal) {
  return std::string(body.substr(0, literal.begin)).append(body.substr(literal.end));
}

}  // namespace

Json parse_message(std::string body) {
  const auto longest = longest_string(body);
  if (!longest || longest->size() < kLongString || is_key(body, *longest)) {
    return Json::parse(body, nullptr, false);
  }
  const std::string rest = without(body, *longest);
  const auto end = decode_in_place(body, *longest);
  if (!end) return Json(Json::value_t::discarded);
  body.resize(*end);
  body.erase(0, longest->begin);
  std::size_t strings = 0;
  const auto put_back = [&](int, Json::parse_event_t event, Json& value) {
    const bool is_string = event == Json::parse_event_t::key ||
                           (event == Json::parse_event_t::value && value.is_string());
    if (is_string && strings++ == longest->number) value = std::move(body);
    return true;
  };
  return Json::parse(rest, put_back, false);
}

}  // namespace mir::lsp
