// Decides if a stored tensor fits the type and shape of a parameter.
#include "weights/fit.hpp"

#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

}  // namespace

bool fits_type(DType stored, DType wanted) {
  if (storage_type(stored) == storage_type(wanted)) return true;
  return is_float(wanted) && (is_float(stored) || is_decodable_block(stored));
}

bool fits_shape(const Shape& stored, const Shape& wanted) {
  if (stored.size() == 1) {
    const auto elements = element_count(wanted);
    return elements && *elements == stored[0];
  }
  return without_ones(stored) == without_ones(wanted);
}

}  // namespace mir
