// The least work that a step takes, whichever kernel computes it.
#pragma once

#include <cstdint>
#include <optional>
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

/// Keys that the queries of an attention see.
struct AttentionSight {
  bool causal = false;  ///< none after the query; the last query sees the last key
  std::optional<std::int64_t> window = {};  ///< of those the last so many
};
/// Pairs of a query and a key that it sees.
double attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionSight& sight);

}  // namespace mir
