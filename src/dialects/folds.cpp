#include "dialects/folds.hpp"

#include "mir/module.hpp"

namespace mir::folds {

std::vector<FoldedResult> extent(const Op& op) {
  const TensorType* x = op.operand(0)->tensor_type();
  const Attr* dim = op.attribute(key::kDim);
  if (x == nullptr || dim == nullptr || dim->kind() != AttrKind::kInt) return {};
  const auto rank = static_cast<std::int64_t>(x->rank());
  const std::int64_t axis = dim->integer() + (dim->integer() < 0 ? rank : 0);
  if (axis < 0 || axis >= rank) return {};
  const Dim extent = x->dims()[static_cast<std::size_t>(axis)];
  if (!extent.is_constant() || extent.is_negative()) return {};
  IRContext& context = op.module().context();
  const Attr* const number = context.integer(extent.constant());
  return {{.constant = context.array({&number, 1})}};
}

}  // namespace mir::folds
