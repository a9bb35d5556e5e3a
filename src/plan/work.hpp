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

/// One op on values of some extents.
struct WorkedStep {
  const Op& op;
  std::span<const TensorExtents> operands;
  std::span<const TensorExtents> results;
  const ParameterTable& parameters;
};

/// Returns the work of one op, whichever kernel computes it. The row of the op among the fast ops
/// defines it; for other ops it is the arithmetic of attention and each value moved once.
Work work_of(const WorkedStep& step);

// Work columns of the rows of fast ops.

/// No work: the result shares the bytes of its operand.
Work no_work(const WorkedStep& step);
/// Operands, results and parameters that the op owns, each moved once.
Work each_value_once(const WorkedStep& step);
/// Results written, operands not read.
Work results_once(const WorkedStep& step);
/// As many elements read as written.
Work results_twice(const WorkedStep& step);
/// A source and the whole that it becomes a part of, read and written.
Work each_copied_whole(const WorkedStep& step);
/// Tokens read and written; those that the cache holds stay where they are.
Work tokens_appended(const WorkedStep& step);
/// Lists of places, and the elements of operand 0 that they name, read and written.
Work elements_picked(const WorkedStep& step);
/// Rows of a table that are taken, besides each value; the rest of the table does not count.
Work rows_taken(const WorkedStep& step);
/// Every element of the result is a product of a row of the operand and one of the weight.
Work linear_products(const WorkedStep& step);
/// Every element of the result is a product of a patch of the operand and one row of the weight.
Work convolution_products(const WorkedStep& step);
/// Every element of the result is a product of a row and a column of the operands.
Work products_of_operands(const WorkedStep& step);
/// Every query with the keys that it sees.
Work pairs_of_attention(const WorkedStep& step);

/// Keys that the queries of an attention see.
struct AttentionSight {
  bool causal = false;  ///< none after the query; the last query sees the last key
  std::optional<std::int64_t> window = {};  ///< of those the last so many
};
/// Pairs of a query and a key that it sees.
double attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionSight& sight);

}  // namespace mir
