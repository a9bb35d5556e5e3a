// Reference copies, concatenation, stacking and repetition of strided views.
#include "kernels/ref/movement.hpp"

#include <fmt/format.h>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

/// Copies elements of views already checked; `x_strides` are x's strides for out's extents.
Result<void> move(std::string_view kernel, const View& x, std::span<const std::int64_t> x_strides,
                  const MutableView& out) {
  return with_bits(kernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out.data);
    for_each_offset<2>(out.extents, {x_strides, out.strides},
                       [&](Offsets<2> at) { to[at[1]] = from[at[0]]; });
    return {};
  });
}

/// Inputs match out in everything but the extent of `axis`, and those add up.
Result<void> check_concat(std::span<const View> inputs, std::size_t axis, const MutableView& out) {
  std::int64_t total = 0;
  for (const View& input : inputs) {
    if (auto ok = check_one_dtype("concat", {out, input}); !ok) return ok;
    if (input.rank() != out.rank()) {
      return shape_error("concat", fmt::format("ranks {} and {} differ", input.rank(), out.rank()));
    }
    if (without(input.extents, axis) != without(out.extents, axis)) {
      return shape_error("concat", "extents of dimensions other than the axis differ");
    }
    total += input.extents[axis];
  }
  if (total == out.extents[axis]) return {};
  return shape_error(
      "concat", fmt::format("the pieces have {} slices, the result {}", total, out.extents[axis]));
}

}  // namespace

Result<void> copy(const View& x, const MutableView& out) {
  if (auto ok = check_one_dtype("copy", {x, out}); !ok) return ok;
  const auto strides = broadcast_strides(x, out.extents);
  if (!strides) return strides.error();
  return move("copy", x, *strides, out);
}

Result<void> concat(std::span<const View> inputs, std::int64_t axis, const MutableView& out) {
  if (inputs.empty()) return shape_error("concat", "no operands");
  if (auto ok = check_views("concat", {out}); !ok) return ok;
  const auto dim = normalise_axis(axis, out.rank());
  if (!dim) return dim.error();
  if (auto ok = check_concat(inputs, *dim, out); !ok) return ok;
  std::int64_t start = 0;
  for (const View& input : inputs) {
    MutableView piece = sub_view(out, start * out.strides[*dim], 0, out.extents.size());
    piece.extents = input.extents;
    if (auto ok = move("concat", input, input.strides, piece); !ok) return ok;
    start += input.extents[*dim];
  }
  return {};
}

Result<void> stack(std::span<const View> inputs, std::int64_t axis, const MutableView& out) {
  if (inputs.empty()) return shape_error("stack", "no operands");
  if (auto ok = check_views("stack", {out}); !ok) return ok;
  const auto dim = normalise_axis(axis, out.rank());
  if (!dim) return dim.error();
  if (out.extents[*dim] != static_cast<std::int64_t>(inputs.size())) {
    return shape_error("stack",
                       fmt::format("{} operands for {} slices", inputs.size(), out.extents[*dim]));
  }
  const Dims extents = without(out.extents, *dim);
  const Dims strides = without(out.strides, *dim);
  MutableView slice{out.dtype, out.data, extents, strides};
  for (const View& input : inputs) {
    if (auto ok = check_one_dtype("stack", {out, input}); !ok) return ok;
    if (auto ok = check_same_extents("stack", input, slice); !ok) return ok;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const MutableView target =
        sub_view(slice, static_cast<std::int64_t>(i) * out.strides[*dim], 0, extents.size());
    if (auto ok = move("stack", inputs[i], inputs[i].strides, target); !ok) return ok;
  }
  return {};
}

Result<void> repeat(const View& x, std::int64_t axis, std::int64_t times, const MutableView& out) {
  if (auto ok = check_one_dtype("repeat", {x, out}); !ok) return ok;
  const auto dim = normalise_axis(axis, x.rank());
  if (!dim) return dim.error();
  if (times < 0) return attribute_error("repeat", fmt::format("{} times", times));
  if (x.rank() != out.rank() || without(x.extents, *dim) != without(out.extents, *dim) ||
      (times == 0
           ? out.extents[*dim] != 0
           : out.extents[*dim] % times != 0 || out.extents[*dim] / times != x.extents[*dim])) {
    return shape_error("repeat", fmt::format("the result is not x repeated {} times", times));
  }
  // Index i of the result's axis is (i / times, i % times); x does not move along the second part.
  const auto after = static_cast<std::ptrdiff_t>(*dim) + 1;
  Dims extents(x.extents.begin(), x.extents.end());
  Dims x_strides(x.strides.begin(), x.strides.end());
  Dims out_strides(out.strides.begin(), out.strides.end());
  extents.insert(extents.begin() + after, times);
  x_strides.insert(x_strides.begin() + after, 0);
  out_strides.insert(out_strides.begin() + after, out.strides[*dim]);
  out_strides[*dim] = out.strides[*dim] * times;
  return move("repeat", x, x_strides, {out.dtype, out.data, extents, out_strides});
}

}  // namespace mir::ref
