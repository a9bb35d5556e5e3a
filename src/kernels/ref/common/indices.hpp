// Operands that hold indices.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ref/common/operands.hpp"

namespace mir::ref {

/// Element at offset `at` of a view of Int32, Int64 or Float32 (truncated toward zero).
std::int64_t index_at(const View& indices, std::int64_t at);

/// Int32 or Int64.
bool is_index(DType dtype);

/// Every index is a number in [lowest, end); an error names the first that is not and its position.
Result<void> check_index_range(std::string_view kernel, const View& indices, std::int64_t lowest,
                               std::int64_t end);

/// The elements of a view of Int32 or Int64, in row-major order.
std::vector<std::int64_t> all_indices(const View& indices);

}  // namespace mir::ref
