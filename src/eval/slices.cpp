// Evaluates the bounds of slices and selects the sliced view.
#include <fmt/format.h>

#include "dialects/all_of_dimension.hpp"
#include "eval/slice_operands.hpp"
#include "eval/substitute.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir::eval {

namespace {

Error bad_entry(const Attr& entry, std::int64_t extent) {
  return {diag::kAttributeOutOfRange,
          fmt::format("'indices' has {} for a dimension of extent {}", entry.spelling(), extent)};
}

}  // namespace

Result<SliceBounds> slice_bounds(const Attr& entry, std::int64_t extent, IRContext& context,
                                 const DimBindings* dims) {
  if (is_all_of_dimension(entry)) return SliceBounds{.length = extent};
  if (entry.kind() != AttrKind::kDict) return bad_entry(entry, extent);
  std::int64_t start = 0, end = extent, step = 1;
  bool has_end = false;
  for (const NamedAttr& field : entry.entries()) {
    const std::string_view key = context.text(field.key);
    if (key != key::kStep && is_all_of_dimension(*field.value)) continue;
    const bool is_symbolic = field.value->kind() == AttrKind::kDim;
    std::optional<std::int64_t> bound;
    if (field.value->kind() == AttrKind::kInt) bound = field.value->integer();
    if (is_symbolic && dims != nullptr) {
      bound = context.dims().evaluate(field.value->dim(), *dims);
    }
    if (!bound) {
      return is_symbolic
                 ? Error{diag::kSymbolUnbound, fmt::format("'{}' of a slice has no value", key)}
                 : bad_entry(entry, extent);
    }
    if (is_symbolic && *bound < 0) return negative_extent(*field.value, *bound);
    (key == key::kStart ? start : key == key::kEnd ? end : step) = *bound;
    has_end = has_end || key == key::kEnd;
  }
  const bool last_one = has_end && start == -1 && end == 0;
  if (start < 0) start += extent;
  if (end < 0 || last_one) end += extent;
  if (start < 0 || end < 0 || end > extent || step < 1) return bad_entry(entry, extent);
  if (end <= start) return SliceBounds{.step = step};
  return SliceBounds{.start = start, .step = step, .length = (end - start - 1) / step + 1};
}

ref::View sliced(EvalCall& call, const ref::View& view, std::size_t dim,
                 const SliceBounds& bounds) {
  ref::Dims extents(view.extents.begin(), view.extents.end());
  ref::Dims strides(view.strides.begin(), view.strides.end());
  const auto bytes = static_cast<std::int64_t>(info(view.dtype).unit_bytes);
  const auto* data = static_cast<const std::byte*>(view.data);
  data += bounds.start * strides[dim] * bytes;
  extents[dim] = bounds.length;
  // An extent of 1 or 0 takes no step, and step may be as large as it likes.
  strides[dim] *= bounds.length > 1 ? bounds.step : 1;
  return {view.dtype, data, call.keep(std::move(extents)), call.keep(std::move(strides))};
}

Result<ref::View> sliced(EvalCall& call, const ref::View& view) {
  const Attr* indices = call.attribute(key::kIndices);
  if (indices == nullptr) return view;
  ref::View part = view;
  for (std::size_t dim = 0; dim < view.extents.size(); ++dim) {
    const auto bounds = slice_bounds(*indices->elements()[dim], view.extents[dim], call.context());
    if (!bounds) return call.error(bounds.error().code, bounds.error().message);
    part = sliced(call, part, dim, *bounds);
  }
  return part;
}

Shape with_extent(Shape shape, std::size_t dim, std::int64_t extent) {
  shape[dim] = extent;
  return shape;
}

}  // namespace mir::eval

namespace mir {

Result<SliceBounds> slice_bounds(const Op& op, std::size_t rank, std::size_t dim,
                                 std::int64_t extent, const DimBindings* dims) {
  const Attr* indices = op.attribute(key::kIndices);
  const bool fits = indices != nullptr && indices->kind() == AttrKind::kArray &&
                    indices->elements().size() == rank;
  if (!fits) return Error{diag::kAttributeKind, "'indices' is no list with an entry for each"};
  return eval::slice_bounds(*indices->elements()[dim], extent, op.module().context(), dims);
}

}  // namespace mir
