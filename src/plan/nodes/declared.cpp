#include "plan/nodes/declared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mir {

Result<void> fits(const TensorType* declared, const Tensor& tensor, Binder& binder,
                  const DimPlace& place) {
  if (declared == nullptr || declared->rank() != tensor.shape().size() ||
      (declared->dtype() && *declared->dtype() != tensor.dtype())) {
    return Error{DiagCode::kResultMismatch, ""};
  }
  DimPlace each = place;
  for (each.dim = 0; each.dim < declared->rank(); ++each.dim) {
    const auto outcome = binder.require(declared->dims()[each.dim], tensor.shape()[each.dim], each);
    if (!outcome) return Error{DiagCode::kResultMismatch, ": " + outcome.error().message};
  }
  return {};
}

Result<void> check_declared(const Op& op, std::uint32_t number, const Tensor& tensor,
                            Binder& binder) {
  const TensorType* declared = op.result(number)->tensor_type();
  const auto fit =
      fits(declared, tensor, binder,
           {.kind = DimPlace::Kind::kResult, .number = number, .name = op.info().mnemonic});
  if (fit) return {};
  return Error{
      DiagCode::kResultMismatch,
      fmt::format("result {} of '{}' is {} [{}], declared is {}{}", number, op.info().mnemonic,
                  name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "),
                  declared == nullptr ? "no tensor" : declared->spelling(), fit.error().message)};
}

}  // namespace mir
