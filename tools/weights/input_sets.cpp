// Splits repeated input options into the inputs of each run.
#include "input_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mir/codes/usage.hpp"

namespace mir::tools {

namespace {

/// Empty for a value that takes the next port.
std::string_view port_of(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  return equals == argument.npos ? std::string_view() : argument.substr(0, equals);
}

std::size_t values_of(std::span<const std::string> arguments, std::string_view port) {
  if (port.empty()) return 1;
  return static_cast<std::size_t>(std::ranges::count(arguments, port, port_of));
}

}  // namespace

Result<std::vector<std::vector<std::string>>> input_sets(std::span<const std::string> arguments) {
  std::string_view most_named;
  std::size_t most = 1;
  for (const std::string& each : arguments) {
    const std::size_t count = values_of(arguments, port_of(each));
    if (count > most) {
      most = count;
      most_named = port_of(each);
    }
  }
  std::vector<std::vector<std::string>> sets(most);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view port = port_of(arguments[i]);
    const std::size_t count = values_of(arguments, port);
    if (count != 1 && count != most) {
      return Error{diag::kUsage,
                   fmt::format("input '{}' has {} values and '{}' has {}: expected 1 or {}", port,
                               count, most_named, most, most)};
    }
    const std::size_t number = values_of(arguments.first(i), port);
    for (std::size_t set = 0; set < most; ++set) {
      if (count == 1 || set == number) sets[set].push_back(arguments[i]);
    }
  }
  return sets;
}

}  // namespace mir::tools
