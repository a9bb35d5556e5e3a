// Embedding, gather, index and compress: selects rows by indices or by a mask.
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
  out_strides.erase(first, first + static_cast<std::ptrdiff_t>(indices.rank()));

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

std::int64_t count_true(const View& condition) {
  const auto* values = static_cast<const std::uint8_t*>(condition.data);
  std::int64_t count = 0;
  for_each_offset<1>(condition.extents, {condition.strides},
                     [&](Offsets<1> at) { count += values[at[0]] != 0 ? 1 : 0; });
  return count;
}

Result<void> compress(const View& x, const View& mask, std::int64_t axis, const MutableView& out) {
  if (!is_truth_type(mask.dtype)) return dtype_error("compress", mask.dtype);
  if (auto ok = check_views("compress", {x, mask, out}); !ok) return ok;
  if (auto ok = check_one_dtype("compress", {x, out}); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  Dims extents(x.extents.begin(), x.extents.end());
  extents[*dim] = count_true(mask);
  if (mask.rank() != 1 || mask.extents[0] != x.extents[*dim] ||
      !same_extents(out.extents, extents)) {
    return shape_error("compress", "mask and result do not have the extents of x");
  }
  const Dims slice = without(x.extents, *dim);
  const Dims x_strides = without(x.strides, *dim), out_strides = without(out.strides, *dim);
  const auto* selected = static_cast<const std::uint8_t*>(mask.data);
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < mask.extents[0]; ++i) {
    if (selected[i * mask.strides[0]] == 0) continue;
    const View from{x.dtype, x.data, slice, x_strides};
    const MutableView to{out.dtype, out.data, slice, out_strides};
    const auto copied = copy(sub_view(from, i * x.strides[*dim], 0, slice.size()),
                             sub_view(to, next * out.strides[*dim], 0, slice.size()));
    if (!copied) return copied;
    ++next;
  }
  return {};
}

}  // namespace mir::ref
