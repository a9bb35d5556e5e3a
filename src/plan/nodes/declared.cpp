// Checks tensors against the declared types of the results they become, and stores them.
#include "plan/nodes/declared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mir/codes/runs.hpp"

namespace mir {

Result<void> fits(const TensorType* declared, TensorExtents tensor, Binder& binder,
                  const DimPlace& place) {
  if (declared == nullptr || declared->rank() != tensor.shape.size() ||
      (declared->dtype() && *declared->dtype() != tensor.dtype)) {
    return Error{diag::kResultMismatch, ""};
  }
  DimPlace each = place;
  for (each.dim = 0; each.dim < declared->rank(); ++each.dim) {
    const auto outcome = binder.require(declared->dims()[each.dim], tensor.shape[each.dim], each);
    if (!outcome) return Error{diag::kResultMismatch, ": " + outcome.error().message};
  }
  return {};
}

Result<void> check_declared(const Op& op, std::uint32_t number, TensorExtents tensor,
                            Binder& binder) {
  const TensorType* declared = op.result(number)->held_type();
  const auto fit =
      fits(declared, tensor, binder,
           {.kind = DimPlace::Kind::kResult, .number = number, .name = op.info().mnemonic});
  if (fit) return {};
  return Error{
      diag::kResultMismatch,
      fmt::format("result {} of '{}' is {} [{}], declared is {}{}", number, op.info().mnemonic,
                  name_of(tensor.dtype), fmt::join(tensor.shape, ", "),
                  declared == nullptr ? "no tensor" : declared->spelling(), fit.error().message)};
}

Result<void> deliver(const Op& op, const PlanNode& node, std::vector<Tensor> tensors,
                     Frame& frame) {
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const TensorExtents found{tensors[i].dtype(), tensors[i].shape()};
    if (auto ok = check_declared(op, i, found, frame.binder); !ok) return ok;
  }
  return hand_over(node, std::move(tensors), frame);
}

Result<void> hand_over(const PlanNode& node, std::vector<Tensor> tensors, Frame& frame) {
  if (frame.begin_phase) {
    if (auto ok = frame.begin_phase(node.step()); !ok) return ok;
  }
  for (std::size_t i = 0; i < node.results().size(); ++i) {
    frame.set(node.results()[i], std::move(tensors[i]));
  }
  return {};
}

}  // namespace mir
