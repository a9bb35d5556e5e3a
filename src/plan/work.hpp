// The least work that a step takes, whichever kernel computes it.
#pragma once

#include <cstdint>
#include <span>

#include "eval/evaluate.hpp"
#include "mir/compute.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Element type and extents of a value.
struct TensorExtents {
  DType dtype{};
  std::span<const std::int64_t> shape;
};

double bytes_of(const TensorExtents& tensor);

/// The work of one op on values of these extents. Results that share their operand's bytes are no
/// work; of an embedding table only the rows taken count.
Work work_of(const Op& op, std::span<const TensorExtents> operands,
             std::span<const TensorExtents> results, const ParameterTable& parameters);

/// Query and key pairs of attention that count: all, or with `causal` those where the key is not
/// after the query, the last query seeing all keys.
double attention_pairs(std::int64_t queries, std::int64_t keys, bool causal);

}  // namespace mir
