// Reads and range-checks tensors of indices, of integer or floating type.
#include "kernels/ref/common/indices.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/numeric.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

/// A NaN, which truncation would make 0.
bool is_no_number(const View& indices, std::int64_t at) {
  return indices.dtype == DType::kFloat32 &&
         std::isnan(static_cast<const float*>(indices.data)[at]);
}

}  // namespace

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

std::vector<std::int64_t> all_indices(const View& indices) {
  std::vector<std::int64_t> all;
  for_each_offset<1>(indices.extents, {indices.strides},
                     [&](Offsets<1> at) { all.push_back(index_at(indices, at[0])); });
  return all;
}

bool is_index(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64;
}

Result<void> check_index_range(std::string_view kernel, const View& indices, std::int64_t lowest,
                               std::int64_t end) {
  std::int64_t position = 0;
  Result<void> result;
  for_each_offset<1>(indices.extents, {indices.strides}, [&](Offsets<1> at) {
    const bool is_nan = is_no_number(indices, at[0]);
    const std::int64_t index = is_nan ? lowest : index_at(indices, at[0]);
    if (result.ok() && (is_nan || index < lowest || index >= end)) {
      result = Error{diag::kIndexOutOfRange,
                     fmt::format("{}: index {} at position {} is outside [{}, {})", kernel,
                                 is_nan ? "NaN" : fmt::format("{}", index), position, lowest, end)};
    }
    ++position;
  });
  return result;
}

}  // namespace mir::ref
