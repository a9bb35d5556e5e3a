// Argument checks, whose errors name the kernel, and views of parts of an operand.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kernels/ref/view.hpp"

namespace mir::ref {

Error dtype_error(std::string_view kernel, DType dtype);
Error shape_error(std::string_view kernel, std::string_view what);
Error attribute_error(std::string_view kernel, std::string_view what);

/// As many strides as extents, no negative extent, at most kMaxRank dimensions.
Result<void> check_views(std::string_view kernel, std::initializer_list<View> views);
/// Well-formed as above, and all of floating types.
Result<void> check_floating(std::string_view kernel, std::initializer_list<View> views);
/// Well-formed, of one element type.
Result<void> check_one_dtype(std::string_view kernel, std::initializer_list<View> views);
/// Equal ranks and extents.
Result<void> check_same_extents(std::string_view kernel, const View& a, const View& b);

bool is_floating(DType dtype);
/// Bool, or UInt8 that is true when not 0.
bool is_truth_type(DType dtype);
bool same_extents(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// The view of dimensions first .. first + count - 1 whose origin is `offset` elements further.
View sub_view(const View& view, std::int64_t offset, std::size_t first, std::size_t count);
MutableView sub_view(const MutableView& view, std::int64_t offset, std::size_t first,
                     std::size_t count);

/// `dims` without one entry.
Dims without(std::span<const std::int64_t> dims, std::size_t axis);

}  // namespace mir::ref
