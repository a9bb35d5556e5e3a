// Determines the possible layouts of a rotary embedding's operand.
#include "upgrade/steps/rotation_layout.hpp"

#include "ir/computed_op.hpp"
#include "ir/equal_extents.hpp"

namespace mir {

RotationLayouts layouts_of_rotation(const Op& op) {
  if (op.operand_count() < 2) return {};
  const TensorType *x = op.operand(0)->tensor_type(), *table = op.operand(1)->tensor_type();
  if (x == nullptr || table == nullptr || x->rank() != 4 || table->rank() < 2) return {};
  const Dim rows = table->dims()[table->rank() - 2];
  return {.known = true,
          .heads_first = equal_extents(rows, x->dims()[2]),
          .positions_first = equal_extents(rows, x->dims()[1])};
}

std::optional<bool> positions_come_first(const Op& op) {
  const RotationLayouts own = layouts_of_rotation(op);
  if (own.heads_first != own.positions_first) return own.positions_first;
  if (!own.known || op.result_count() == 0) return std::nullopt;
  for (const Use* use = op.result(0)->first_use(); use != nullptr; use = use->next()) {
    if (computed_op(*use->user()) == OpId::kLinalgFlashAttention2) return true;
    if (computed_op(*use->user()) == OpId::kLinalgMatMul) return false;
  }
  for (const Op* other = op.block()->front(); other != nullptr; other = other->next()) {
    if (computed_op(*other) != computed_op(op)) continue;
    const RotationLayouts layouts = layouts_of_rotation(*other);
    const bool tells = layouts.heads_first != layouts.positions_first;
    if (tells && other->operand(1) == op.operand(1)) return layouts.positions_first;
  }
  return std::nullopt;
}

}  // namespace mir
