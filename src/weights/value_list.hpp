// Nested lists of numbers as text.
#pragma once

#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// The elements in row-major order, as views into the text, and the extents of the nesting.
struct ValueList {
  Shape shape;
  std::vector<std::string_view> elements;
};

/// Parses a number (rank 0) or a list of lists of equal length, such as `[[1, 2], [3, 4]]`. The
/// caller interprets the elements. Refuses ragged lists and ranks over kMaxFileRank.
Result<ValueList> parse_value_list(std::string_view text);

}  // namespace mir
