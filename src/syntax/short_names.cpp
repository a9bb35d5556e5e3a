// Converts names of ops between their short and their full form.
#include "syntax/short_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/characters.hpp"

namespace mir {

std::string full_op_name(std::string_view short_name, std::string_view device) {
  const bool is_tensor = is_short_tensor_name(short_name);
  return fmt::format("{}.{}{}", is_tensor ? "tensor" : "linalg", device, short_name);
}

std::string_view short_op_name(std::string_view name, std::string_view device) {
  for (const std::string_view dialect : {"linalg.", "tensor."}) {
    if (!name.starts_with(dialect) || !name.substr(dialect.size()).starts_with(device)) continue;
    const std::string_view rest = name.substr(dialect.size() + device.size());
    const bool is_word =
        rest.size() > 1 && rest[0] == '.' && is_letter(rest[1]) &&
        std::ranges::all_of(rest.substr(1), [](char c) { return is_name_character(c, "_"); });
    const bool is_tensor = dialect.front() == 't';
    return is_word && is_tensor == is_short_tensor_name(rest) ? rest : std::string_view();
  }
  return {};
}

bool is_relative_tag(std::string_view tag) {
  const std::size_t first = tag.find_first_not_of(" \t\r\n", 1);
  return tag.starts_with('<') && first != tag.npos && tag[first] == '.';
}

std::string_view relative_name(std::string_view tag) {
  const std::size_t first = tag.find('.');
  return tag.substr(first, tag.find_last_not_of(" \t\r\n>") + 1 - first);
}

std::string_view name_in_graph(std::string_view name, std::string_view graph) {
  if (graph.empty() || !name.starts_with(graph)) return {};
  const std::string_view rest = name.substr(graph.size());
  const bool is_relative =
      rest.size() > 1 && rest.front() == '.' && rest.back() != '-' &&
      std::ranges::all_of(rest, [](char c) { return is_name_character(c, "_.$-"); });
  return is_relative ? rest : std::string_view();
}

}  // namespace mir
