#include "kernels/ref/gather.hpp"

#include "kernels/ref/common/indices.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/movement.hpp"

namespace mir::ref {
namespace {

Dims with_inserted(std::span<const std::int64_t> dims, std::size_t axis,
                   std::span<const std::int64_t> inserted) {
  Dims result = without(dims, axis);
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), inserted.begin(),
                inserted.end());
  return result;
}

/// Indices are valid for `axis`; negative ones count from the end.
Result<void> take(std::string_view kernel, const View& table, const View& indices, std::size_t axis,
                  const MutableView& out) {
  if (auto ok = check_one_dtype(kernel, {table, out}); !ok) return ok;
  if (!same_extents(out.extents, with_inserted(table.extents, axis, indices.extents))) {
    return shape_error(kernel, "the result does not have the extents of table and indices");
  }
  const Dims slice_extents = without(table.extents, axis);
  const Dims table_strides = without(table.strides, axis);
  Dims out_strides(out.strides.begin(), out.strides.end());
  const auto first = out_strides.begin() + static_cast<std::ptrdiff_t>(axis);
  out_strides.erase(first, first + indices.rank());

  const View slice{table.dtype, table.data, slice_extents, table_strides};
  const MutableView target{out.dtype, out.data, slice_extents, out_strides};
  const std::size_t rank = slice_extents.size();
  Result<void> result;
  for_each_offset<2>(indices.extents,
                     {indices.strides, out.strides.subspan(axis, indices.extents.size())},
                     [&](Offsets<2> at) {
                       const std::int64_t index = index_at(indices, at[0]);
                       const std::int64_t row = index < 0 ? index + table.extents[axis] : index;
                       auto copied = copy(sub_view(slice, row * table.strides[axis], 0, rank),
                                          sub_view(target, at[1], 0, rank));
                       if (!copied) result = std::move(copied);
                     });
  return result;
}

}  // namespace

Result<void> embedding(const View& ids, const View& weight, const MutableView& out) {
  if (!is_index(ids.dtype)) return dtype_error("embedding", ids.dtype);
  if (auto ok = check_views("embedding", {ids, weight, out}); !ok) return ok;
  if (weight.rank() != 2) return shape_error("embedding", "the weight is not a matrix");
  if (auto ok = check_index_range("embedding", ids, 0, weight.extents[0]); !ok) return ok;
  return take("embedding", weight, ids, 0, out);
}

Result<void> gather(const View& table, const View& indices, std::int64_t axis,
                    const MutableView& out) {
  if (!is_index(indices.dtype) && indices.dtype != DType::kFloat32) {
    return dtype_error("gather", indices.dtype);
  }
  if (auto ok = check_views("gather", {table, indices, out}); !ok) return ok;
  const auto dim = normalise_axis(axis, table.rank());
  if (!dim) return dim.error();
  const std::int64_t extent = table.extents[*dim];
  if (auto ok = check_index_range("gather", indices, -extent, extent); !ok) return ok;
  return take("gather", table, indices, *dim, out);
}

}  // namespace mir::ref
