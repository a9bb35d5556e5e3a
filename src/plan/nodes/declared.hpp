// Tensors against the types of the values that they become.
#pragma once

#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"
#include "plan/binder.hpp"
#include "plan/plan_node.hpp"

namespace mir {

/// Checks that a tensor has a type; null fits nothing. Binds symbols without a value. The error
/// describes the contradiction, and is empty if rank or element type differ.
Result<void> fits(const TensorType* declared, TensorExtents tensor, Binder& binder,
                  const DimPlace& place);

/// Checks that result `number` of the op has its declared type.
Result<void> check_declared(const Op& op, std::uint32_t number, TensorExtents tensor,
                            Binder& binder);

/// Makes tensors the results of a node, which computes this op: checks them against the types that
/// it declares, begins the phase whose extents they decide, and gives them to the frame.
Result<void> deliver(const Op& op, const PlanNode& node, std::vector<Tensor> tensors, Frame& frame);
/// Like deliver(), for tensors that were already checked.
Result<void> hand_over(const PlanNode& node, std::vector<Tensor> tensors, Frame& frame);

}  // namespace mir
