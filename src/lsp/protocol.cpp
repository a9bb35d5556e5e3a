// Reads flags, members and positions from the protocol's JSON.
#include "lsp/protocol.hpp"

#include <algorithm>
#include <cstdint>

namespace mir::lsp {

using Json = nlohmann::json;

bool flag(const Json& from, std::string_view path) {
  const Json* at = &from;
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const auto found = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (!at->is_object() || found == at->end()) return false;
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at->is_boolean() && at->get<bool>();
}

const Json& member(const Json& from, const char* key) {
  static const Json kNull;
  if (!from.is_object()) return kNull;
  const auto found = from.find(key);
  return found == from.end() ? kNull : *found;
}

Position read_position(const Json& json) {
  const Json& line = json.at("line");
  const Json& column = json.at("character");
  // Numbers beyond 32 bits are after every text.
  const auto number = [](const Json& value) {
    if (!value.is_number_integer() ||
        (!value.is_number_unsigned() && value.get<std::int64_t>() < 0)) {
      throw Json::type_error::create(302, "position", &value);
    }
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(value.get<std::uint64_t>(), 0xffff'ffff));
  };
  return {number(line), number(column)};
}

}  // namespace mir::lsp
