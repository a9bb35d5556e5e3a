// Stable argsort and top-k along a dimension.
#include "kernels/ref/sort.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

using Indices = std::vector<std::int32_t>;

/// True if `a` sorts before `b` in ascending order. Integers are never NaN.
template <class W>
bool below(W a, W b) {
  return a < b || (a == a && b != b);
}

/// The indices of a row in sorted order.
template <class T>
Indices order_of(const T* row, std::int64_t length, std::int64_t stride, bool descending) {
  Indices order(static_cast<std::size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
    const Wide<T> left = load<T>(row[a * stride]);
    const Wide<T> right = load<T>(row[b * stride]);
    return descending ? below(right, left) : below(left, right);
  });
  return order;
}

Result<void> check_indices(std::string_view kernel, const View& indices, std::int64_t extent) {
  if (indices.dtype != DType::kInt32) return dtype_error(kernel, indices.dtype);
  if (extent - 1 <= std::numeric_limits<std::int32_t>::max()) return {};
  return shape_error(kernel, "the indices do not fit Int32");
}

}  // namespace

Result<void> argsort(const View& x, std::int64_t axis, bool descending,
                     const MutableView& indices) {
  if (auto ok = check_views("argsort", {x, indices}); !ok) return ok;
  if (auto ok = check_same_extents("argsort", x, indices); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  const std::int64_t length = x.extents[*dim];
  if (auto ok = check_indices("argsort", indices, length); !ok) return ok;
  return with_number("argsort", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    for_each_offset<2>(
        without(x.extents, *dim), {without(x.strides, *dim), without(indices.strides, *dim)},
        [&](Offsets<2> at) {
          const Indices order =
              order_of(static_cast<const T*>(x.data) + at[0], length, x.strides[*dim], descending);
          std::int32_t* to = static_cast<std::int32_t*>(indices.data) + at[1];
          for (std::int64_t i = 0; i < length; ++i) {
            to[i * indices.strides[*dim]] = order[static_cast<std::size_t>(i)];
          }
        });
    return {};
  });
}

Result<void> top_k(const View& x, std::int64_t axis, const TopKOptions& options,
                   const MutableView& values, const MutableView& indices) {
  if (auto ok = check_one_dtype("top_k", {x, values}); !ok) return ok;
  if (auto ok = check_views("top_k", {indices}); !ok) return ok;
  if (auto ok = check_same_extents("top_k", values, indices); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  if (auto ok = check_indices("top_k", indices, x.extents[*dim]); !ok) return ok;
  if (values.rank() != x.rank() || values.extents[*dim] > x.extents[*dim] ||
      without(values.extents, *dim) != without(x.extents, *dim)) {
    return shape_error("top_k", "the results do not have the extents of x except along the axis");
  }
  const std::int64_t k = values.extents[*dim];
  return with_number("top_k", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    for_each_offset<3>(
        without(x.extents, *dim),
        {without(x.strides, *dim), without(values.strides, *dim), without(indices.strides, *dim)},
        [&](Offsets<3> at) {
          const T* row = static_cast<const T*>(x.data) + at[0];
          Indices order = order_of(row, x.extents[*dim], x.strides[*dim], options.largest);
          order.resize(static_cast<std::size_t>(k));
          if (!options.sorted) std::ranges::sort(order);
          T* value = static_cast<T*>(values.data) + at[1];
          std::int32_t* index = static_cast<std::int32_t*>(indices.data) + at[2];
          for (std::int64_t i = 0; i < k; ++i) {
            const std::int32_t from = order[static_cast<std::size_t>(i)];
            value[i * values.strides[*dim]] = row[from * x.strides[*dim]];
            index[i * indices.strides[*dim]] = from;
          }
        });
    return {};
  });
}

}  // namespace mir::ref
