// How far fast kernels may be from the reference kernels on the same operands.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/evaluate.hpp"
#include "mir/compute.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// A step that both sets of kernels computed.
struct BoundedStep {
  const Op& op;
  std::span<const Tensor> operands;
  EvalEnvironment environment;  ///< that of the reference kernels, which may evaluate more
  Activations activations = Activations::kFloat32;
};

/// For each element of `expected`, a result by the reference kernels, the distance within which the
/// fast kernel's must be: the bound that the kernel documents, on these operands, and the rounding
/// of the reference. 0: the same number. None where the bound depends on what codes mean: the
/// tolerance of the element type counts.
Result<std::optional<std::vector<double>>> kernel_bounds(const BoundedStep& step,
                                                         const Tensor& expected);

}  // namespace mir
