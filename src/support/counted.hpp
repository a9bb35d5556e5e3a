// Counts in messages.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace mir {

/// "1 operand", "2 operands": `nouns` is the plural, which ends in s.
inline std::string counted(std::size_t count, std::string_view nouns) {
  return fmt::format("{} {}", count, count == 1 ? nouns.substr(0, nouns.size() - 1) : nouns);
}

}  // namespace mir
