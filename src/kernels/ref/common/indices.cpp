#include "kernels/ref/common/indices.hpp"

#include <fmt/format.h>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::ref {

std::int64_t index_at(const View& indices, std::int64_t at) {
  switch (indices.dtype) {
    case DType::kInt32:
      return static_cast<const std::int32_t*>(indices.data)[at];
    case DType::kInt64:
      return static_cast<const std::int64_t*>(indices.data)[at];
    default:
      return truncate_to<std::int64_t>(
          static_cast<double>(static_cast<const float*>(indices.data)[at]));
  }
}

bool is_index(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64;
}

Result<void> check_index_range(std::string_view kernel, const View& indices, std::int64_t lowest,
                               std::int64_t end) {
  std::int64_t position = 0;
  Result<void> result;
  for_each_offset<1>(indices.extents, {indices.strides}, [&](Offsets<1> at) {
    const std::int64_t index = index_at(indices, at[0]);
    if (result.ok() && (index < lowest || index >= end)) {
      result = Error{DiagCode::kIndexOutOfRange,
                     fmt::format("{}: index {} at position {} is outside [{}, {})", kernel, index,
                                 position, lowest, end)};
    }
    ++position;
  });
  return result;
}

}  // namespace mir::ref
