// Tensors against the types of the values that they become.
#pragma once

#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"
#include "plan/binder.hpp"
#include "plan/plan_node.hpp"

namespace mir {

/// Whether a tensor has a type; null fits nothing. Symbols without a value get one. The error
/// says what contradicts, and is empty where rank or element type differ.
Result<void> fits(const TensorType* declared, TensorExtents tensor, Binder& binder,
                  const DimPlace& place);

/// Whether result `number` of the op is what its type declares.
Result<void> check_declared(const Op& op, std::uint32_t number, TensorExtents tensor,
                            Binder& binder);

/// Makes tensors the results of a node, which computes this op: checks them against the types that
/// it declares, begins the phase whose extents they decide, and gives them to the frame.
Result<void> deliver(const Op& op, const PlanNode& node, std::vector<Tensor> tensors, Frame& frame);
/// The same for tensors that were checked.
Result<void> hand_over(const PlanNode& node, std::vector<Tensor> tensors, Frame& frame);

}  // namespace mir
