// Fold functions of op rows: results that types and attributes determine.
#include "dialects/folds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dialects/quantisation.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/equivalence.hpp"
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

namespace {

/// The two dimensions that a TransposeOp exchanges, counted from the front, the lesser first.
std::optional<std::pair<std::int64_t, std::int64_t>> exchanged(const Op& transpose) {
  const TensorType* x = transpose.operand(0)->tensor_type();
  if (x == nullptr) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->rank());
  std::int64_t dims[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Attr* dim = transpose.attribute(i == 0 ? key::kDim0 : key::kDim1);
    if (dim == nullptr || dim->kind() != AttrKind::kInt) return std::nullopt;
    dims[i] = dim->integer() + (dim->integer() < 0 ? rank : 0);
    if (dims[i] < 0 || dims[i] >= rank) return std::nullopt;
  }
  return std::minmax(dims[0], dims[1]);
}

/// True if nothing but elements passes from the operand of an op to its result.
bool only_moves(const Op& op) {
  return op.operand_count() == 1 && states_only_row_attributes(op) &&
         have_same_quantisation(op, 0, 0);
}

}  // namespace

std::vector<FoldedResult> transpose(const Op& op) {
  const auto dims = exchanged(op);
  if (!dims || !only_moves(op)) return {};
  if (dims->first == dims->second) return {{.value = op.operand(0)}};
  const Op* before = op.operand(0)->defining_op();
  if (before == nullptr || before->kind() != op.kind() || !only_moves(*before)) return {};
  if (exchanged(*before) != dims) return {};
  const bool has_notes =
      !std::ranges::equal(before->result()->attributes(), op.result()->attributes());
  if (has_notes) return {};
  return {{.value = before->operand(0)}};
}

std::vector<FoldedResult> cast(const Op& op) {
  const Value& operand = *op.operand(0);
  if (operand.is_free() && !operand.has_symbol()) {
    const Attr* numbers = operand.attribute(key::kConstant);
    if (numbers == nullptr) return {};
    return {{.constant = numbers}};
  }
  const Op* before = operand.defining_op();
  if (before == nullptr || before->kind() != op.kind() || !operand.attributes().empty() ||
      !states_only_row_attributes(op) || !states_only_row_attributes(*before) ||
      before->operand(0)->type() != op.result()->type()) {
    return {};
  }
  return {{.value = before->operand(0)}};
}

}  // namespace mir::folds
