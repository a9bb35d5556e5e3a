#include "mir/ir/type.hpp"

namespace mir {

bool TensorType::has_static_shape() const {
  for (const Dim dim : dims_) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

std::optional<std::int64_t> TensorType::element_count() const {
  std::int64_t count = 1;
  for (const Dim dim : dims_) {
    if (!dim.is_constant() || dim.constant() < 0) return std::nullopt;
    if (__builtin_mul_overflow(count, dim.constant(), &count)) return std::nullopt;
  }
  return count;
}

}  // namespace mir
