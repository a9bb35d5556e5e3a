// The least work of a step, whichever kernel computes it.
#pragma once

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

/// Returns the work of one op as its row defines it (mir/work.hpp). Unknown extents count as 0.
Work work_of(const WorkedStep& step);

}  // namespace mir
