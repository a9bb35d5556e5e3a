// JSON documents from strangers.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

struct JsonRules {
  std::size_t max_bytes = 0;
  std::size_t max_depth = 0;
  DiagCode malformed{};  ///< of what is refused
};

/// One JSON value in UTF-8 and nothing after it. Refused are, besides text that is no JSON: a
/// document that is too large or nested too deep, which is seen before anything is built; a key
/// that occurs twice in one object; NUL bytes.
Result<nlohmann::json> parse_strict_json(std::string_view text, const JsonRules& rules);

}  // namespace mir
