// Parses JSON from untrusted files, with limits on size and depth and no repeated keys.
#include "support/strict_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace mir {
namespace {

using Json = nlohmann::json;

/// Looks at brackets alone, before a document is built.
bool is_deeper(std::string_view json, std::size_t limit) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if ((c == '{' || c == '[') && ++depth > limit) return true;
    if ((c == '}' || c == ']') && depth != 0) --depth;
  }
  return false;
}

}  // namespace

Result<Json> parse_strict_json(std::string_view text, const JsonRules& rules) {
  const auto malformed = [&](std::string message) {
    return Error{rules.malformed, std::move(message)};
  };
  if (text.size() > rules.max_bytes)
    return malformed(fmt::format("{} bytes, at most {} are read", text.size(), rules.max_bytes));
  // The JSON reader takes a NUL byte for the end of its input.
  if (text.find('\0') != std::string_view::npos) return malformed("it has a NUL byte");
  if (is_deeper(text, rules.max_depth))
    return malformed(fmt::format("nested over {} deep", rules.max_depth));
  std::vector<std::set<std::string>> keys(rules.max_depth + 2);
  bool twice = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) keys[level + 1].clear();
    if (event == Json::parse_event_t::key)
      twice = !keys[level].insert(value.get<std::string>()).second || twice;
    return true;
  };
  Json document = Json::parse(text, watch, false);
  if (document.is_discarded()) return malformed("it is not JSON");
  if (twice) return malformed("a key occurs twice in an object");
  return document;
}

}  // namespace mir
