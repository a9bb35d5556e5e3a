// Lists of values as text spells them inside an array.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mir/context.hpp"

namespace mir {

/// One value of a list, and its place in the list's text.
struct Element {
  const Attr* value = nullptr;
  std::uint32_t begin = 0, end = 0;
};

/// The values that `text` spells, with commas between them; aliases have no meaning there. No value
/// after reporting what is wrong: `text` is at position `at` of the source space, 0 if it is in
/// none.
std::optional<std::vector<Element>> read_elements(IRContext& context, std::string_view text,
                                                  SourcePos at, Diagnostics& diagnostics);

}  // namespace mir
