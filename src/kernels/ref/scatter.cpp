// Replaces the elements that indices select, or combines them by sum, product, max or min.
#include "kernels/ref/scatter.hpp"

#include <unordered_map>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/extreme.hpp"
#include "kernels/ref/common/indices.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/movement.hpp"

namespace mir::ref {
namespace {

constexpr std::string_view kScatter = "scatter";

Result<void> check(const View& x, const View& indices, const View& source, std::size_t axis,
                   const MutableView& out) {
  if (auto ok = check_one_dtype(kScatter, {x, source, out}); !ok) return ok;
  if (!is_index(indices.dtype)) return dtype_error(kScatter, indices.dtype);
  if (auto ok = check_same_extents(kScatter, x, out); !ok) return ok;
  if (auto ok = check_same_extents(kScatter, indices, source); !ok) return ok;
  if (indices.rank() != x.rank()) return shape_error(kScatter, "indices and x differ in rank");
  for (std::size_t dim = 0; dim < x.extents.size(); ++dim) {
    if (dim != axis && indices.extents[dim] > x.extents[dim]) {
      return shape_error(kScatter,
                         "there are more indices than elements in a dimension other than the axis");
    }
  }
  return check_index_range(kScatter, indices, -x.extents[axis], x.extents[axis]);
}

/// fn(offset in out, offset in source) for each index in row-major order.
template <class Fn>
void for_each_meeting(const View& indices, const View& source, std::size_t axis,
                      const MutableView& out, Fn fn) {
  Dims strides(out.strides.begin(), out.strides.end());
  strides[axis] = 0;
  for_each_offset<3>(indices.extents, {indices.strides, source.strides, strides},
                     [&](Offsets<3> at) {
                       const std::int64_t index = index_at(indices, at[0]);
                       const std::int64_t row = index < 0 ? index + out.extents[axis] : index;
                       fn(at[2] + row * out.strides[axis], at[1]);
                     });
}

template <class W>
W reduced(ScatterReduction reduction, W element, W value) {
  using Unsigned = std::uint64_t;
  switch (reduction) {
    case ScatterReduction::kMax:
      return extreme_of<1>(element, value);
    case ScatterReduction::kMin:
      return extreme_of<-1>(element, value);
    case ScatterReduction::kAdd:
      if constexpr (std::is_integral_v<W>) {
        return static_cast<W>(static_cast<Unsigned>(element) + static_cast<Unsigned>(value));
      } else {
        return element + value;
      }
    default:
      if constexpr (std::is_integral_v<W>) {
        return static_cast<W>(static_cast<Unsigned>(element) * static_cast<Unsigned>(value));
      } else {
        return element * value;
      }
  }
}

}  // namespace

Result<void> scatter(const View& x, const View& indices, const View& source, std::int64_t axis,
                     ScatterReduction reduction, const MutableView& out) {
  if (auto ok = check_views(kScatter, {x, indices, source, out}); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  if (auto ok = check(x, indices, source, *dim, out); !ok) return ok;
  if (reduction == ScatterReduction::kNone) {
    if (auto ok = copy(x, out); !ok) return ok;
    return with_bits(kScatter, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
      for_each_meeting(indices, source, *dim, out, [&](std::int64_t to, std::int64_t from) {
        static_cast<T*>(out.data)[to] = static_cast<const T*>(source.data)[from];
      });
      return {};
    });
  }
  return with_number(kScatter, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    if (auto ok = copy(x, out); !ok) return ok;
    T* const elements = static_cast<T*>(out.data);
    std::unordered_map<std::int64_t, Wide<T>> met;
    for_each_meeting(indices, source, *dim, out, [&](std::int64_t to, std::int64_t from) {
      Wide<T>& element = met.try_emplace(to, load<T>(elements[to])).first->second;
      element = reduced(reduction, element, load<T>(static_cast<const T*>(source.data)[from]));
    });
    for (const auto& [at, value] : met) elements[at] = store<T>(value);
    return {};
  });
}

}  // namespace mir::ref
