// Strides, broadcasting, operand checks and sub-views that all reference kernels share.
#include "kernels/ref/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

/// Extents as messages show them: [2, 3].
std::string text(std::span<const std::int64_t> extents) {
  std::string result = "[";
  for (const std::int64_t extent : extents) {
    if (result.size() > 1) result += ", ";
    result += fmt::to_string(extent);
  }
  return result + "]";
}

}  // namespace

Dims row_major_strides(std::span<const std::int64_t> extents) {
  Dims strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t dim = extents.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(extents[dim], 1);
  }
  return strides;
}

std::int64_t element_count(const View& view) {
  std::int64_t count = 1;
  if (std::ranges::find(view.extents, 0) != view.extents.end()) return 0;
  for (const std::int64_t extent : view.extents) count *= extent;
  return count;
}

Result<Dims> broadcast_strides(const View& view, std::span<const std::int64_t> extents) {
  const std::size_t rank = view.extents.size();
  const auto refuse = [&] {
    return Error{diag::kKernelShape, fmt::format("extents {} do not broadcast to {}",
                                                 text(view.extents), text(extents))};
  };
  if (rank > extents.size()) return refuse();
  Dims strides(extents.size(), 0);
  const std::size_t missing = extents.size() - rank;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const bool repeated = view.extents[dim] == 1;
    if (!repeated && view.extents[dim] != extents[missing + dim]) return refuse();
    strides[missing + dim] = repeated ? 0 : view.strides[dim];
  }
  return strides;
}

Result<std::size_t> normalise_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return Error{diag::kKernelAttribute, fmt::format("axis {} of a tensor of rank {}", axis, rank)};
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

Error dtype_error(std::string_view kernel, DType dtype) {
  return {diag::kKernelDType, fmt::format("{} does not take '{}' here", kernel, name_of(dtype))};
}

Error shape_error(std::string_view kernel, std::string_view what) {
  return {diag::kKernelShape, fmt::format("{}: {}", kernel, what)};
}

Error attribute_error(std::string_view kernel, std::string_view what) {
  return {diag::kKernelAttribute, fmt::format("{}: {}", kernel, what)};
}

bool is_truth_type(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUInt8;
}

bool is_floating(DType dtype) {
  return info(dtype).type_class == DTypeClass::kFloat;
}

bool same_extents(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::ranges::equal(a, b);
}

Result<void> check_views(std::string_view kernel, std::initializer_list<View> views) {
  for (const View& view : views) {
    if (view.extents.size() > kMaxRank) {
      return shape_error(kernel, fmt::format("rank {} exceeds {}", view.rank(), kMaxRank));
    }
    if (view.extents.size() != view.strides.size()) {
      return shape_error(kernel, fmt::format("{} strides for {} extents", view.strides.size(),
                                             view.extents.size()));
    }
    for (const std::int64_t extent : view.extents) {
      if (extent < 0) return shape_error(kernel, fmt::format("extent {} is negative", extent));
    }
  }
  return {};
}

Result<void> check_floating(std::string_view kernel, std::initializer_list<View> views) {
  for (const View& view : views) {
    if (!is_floating(view.dtype)) return dtype_error(kernel, view.dtype);
  }
  return check_views(kernel, views);
}

Result<void> check_one_dtype(std::string_view kernel, std::initializer_list<View> views) {
  const DType expected = views.begin()->dtype;
  for (const View& view : views) {
    if (view.dtype == expected) continue;
    return Error{diag::kKernelDType, fmt::format("{}: element types '{}' and '{}' differ", kernel,
                                                 name_of(expected), name_of(view.dtype))};
  }
  return check_views(kernel, views);
}

Result<void> check_same_extents(std::string_view kernel, const View& a, const View& b) {
  if (same_extents(a.extents, b.extents)) return {};
  return shape_error(kernel,
                     fmt::format("extents {} and {} differ", text(a.extents), text(b.extents)));
}

View sub_view(const View& view, std::int64_t offset, std::size_t first, std::size_t count) {
  const auto bytes = static_cast<std::int64_t>(info(view.dtype).unit_bytes);
  return {view.dtype, static_cast<const std::byte*>(view.data) + offset * bytes,
          view.extents.subspan(first, count), view.strides.subspan(first, count)};
}

MutableView sub_view(const MutableView& view, std::int64_t offset, std::size_t first,
                     std::size_t count) {
  const auto bytes = static_cast<std::int64_t>(info(view.dtype).unit_bytes);
  return {view.dtype, static_cast<std::byte*>(view.data) + offset * bytes,
          view.extents.subspan(first, count), view.strides.subspan(first, count)};
}

Dims without(std::span<const std::int64_t> dims, std::size_t axis) {
  Dims rest(dims.begin(), dims.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return rest;
}

namespace {

/// fn(std::type_identity<T>{}) for a type that the kernel has checked: it is a floating one.
template <class Fn>
void with_checked_floating(DType dtype, Fn&& fn) {
  [[maybe_unused]] const Result<void> done =
      with_floating("values", dtype, [&](auto type) -> Result<void> {
        fn(type);
        return {};
      });
  assert(done.ok());
}

}  // namespace

void read_values(const View& view, std::span<double> values) {
  with_checked_floating(view.dtype, [&]<class T>(std::type_identity<T>) {
    const T* data = static_cast<const T*>(view.data);
    auto value = values.begin();
    for_each_offset<1>(view.extents, {view.strides},
                       [&](Offsets<1> at) { *value++ = load<T>(data[at[0]]); });
  });
}

void write_values(const MutableView& view, std::span<const double> values) {
  with_checked_floating(view.dtype, [&]<class T>(std::type_identity<T>) {
    T* data = static_cast<T*>(view.data);
    auto value = values.begin();
    for_each_offset<1>(view.extents, {view.strides},
                       [&](Offsets<1> at) { data[at[0]] = store<T>(*value++); });
  });
}

}  // namespace mir::ref
