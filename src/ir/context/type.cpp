// Properties of tensor types, and compatibility of types.
#include "mir/type.hpp"

#include <algorithm>

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

bool compatible_shapes(const TensorType& a, const TensorType& b) {
  return std::ranges::equal(a.dims(), b.dims(), [](Dim x, Dim y) {
    return compatible(x, y) || x.is_negative() || y.is_negative();
  });
}

const TensorType* held_type(const Type* type) {
  if (const auto* tensor = dyn_cast<TensorType>(type)) return tensor;
  const auto* declared = dyn_cast<DialectType>(type);
  return declared == nullptr ? nullptr : declared->held_as();
}

bool compatible(const Type* a, const Type* b) {
  if (a == b) return true;
  if (const auto* one = dyn_cast<DialectType>(a)) {
    const auto* other = dyn_cast<DialectType>(b);
    return other != nullptr && one->is_structured() && one->list_ == other->list_;
  }
  const auto* left = dyn_cast<TensorType>(a);
  const auto* right = dyn_cast<TensorType>(b);
  return left != nullptr && right != nullptr && left->dtype_name() == right->dtype_name() &&
         left->device() == right->device() && left->encoding() == right->encoding() &&
         compatible_shapes(*left, *right);
}

}  // namespace mir
