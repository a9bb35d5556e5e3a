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

/// Parses one JSON value in UTF-8 with nothing after it. Besides invalid JSON, refuses documents
/// that are too large or nested too deep (before anything is built), keys that occur twice in one
/// object, and NUL bytes.
Result<nlohmann::json> parse_strict_json(std::string_view text, const JsonRules& rules);

}  // namespace mir
