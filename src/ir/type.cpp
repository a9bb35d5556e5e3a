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

bool compatible(const Type* a, const Type* b) {
  if (a == b) return true;
  const auto* left = dyn_cast<TensorType>(a);
  const auto* right = dyn_cast<TensorType>(b);
  return left != nullptr && right != nullptr && left->dtype_name() == right->dtype_name() &&
         left->device() == right->device() && left->encoding() == right->encoding() &&
         same_shape(*left, *right);
}

bool same_shape(const TensorType& a, const TensorType& b) {
  const auto is_open = [](Dim dim) {
    return dim.is_unknown() || (dim.is_constant() && dim.constant() < 0);
  };
  return std::ranges::equal(a.dims(), b.dims(),
                            [&](Dim x, Dim y) { return x == y || is_open(x) || is_open(y); });
}

}  // namespace mir
