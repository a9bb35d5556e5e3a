#include "weights/fit.hpp"

#include <algorithm>
#include <ranges>

#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

bool fits_type(DType stored, DType wanted) {
  if (storage_type(stored) == storage_type(wanted)) return true;
  return is_float(wanted) && (is_float(stored) || is_decodable_block(stored));
}

bool fits_shape(const Shape& stored, const Shape& wanted) {
  if (stored.size() == 1) {
    const auto elements = element_count(wanted);
    return elements && *elements == stored[0];
  }
  const auto is_other_than_one = [](std::int64_t extent) { return extent != 1; };
  return std::ranges::equal(stored | std::views::filter(is_other_than_one),
                            wanted | std::views::filter(is_other_than_one));
}

}  // namespace mir
