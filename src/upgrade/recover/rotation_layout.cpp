#include "upgrade/recover/rotation_layout.hpp"

namespace mir {

namespace {

/// `RoPE` of an op and of a launch.
std::string_view rotation_family(const Op& op) {
  const Attr* launched = op.attribute("op_type");
  if (launched != nullptr && launched->kind() == AttrKind::kString) return launched->text();
  std::string_view name = op.info().mnemonic;
  if (name.ends_with("Op")) name.remove_suffix(2);
  return name;
}

}  // namespace

RotationLayouts layouts_of_rotation(const Op& op) {
  if (op.operand_count() < 2) return {};
  const TensorType *x = op.operand(0)->tensor_type(), *table = op.operand(1)->tensor_type();
  if (x == nullptr || table == nullptr || x->rank() != 4 || table->rank() < 2) return {};
  const Dim rows = table->dims()[table->rank() - 2];
  return {
      .known = true, .heads_first = rows == x->dims()[2], .positions_first = rows == x->dims()[1]};
}

std::optional<bool> positions_come_first(const Op& op) {
  const RotationLayouts own = layouts_of_rotation(op);
  if (own.heads_first != own.positions_first) return own.positions_first;
  if (!own.known || op.result_count() == 0) return std::nullopt;
  for (const Use* use = op.result(0)->first_use(); use != nullptr; use = use->next()) {
    if (rotation_family(*use->user()) == "FlashAttention2") return true;
    if (rotation_family(*use->user()) == "MatMul") return false;
  }
  for (const Op* other = op.block()->front(); other != nullptr; other = other->next()) {
    if (rotation_family(*other) != rotation_family(op)) continue;
    const RotationLayouts layouts = layouts_of_rotation(*other);
    const bool tells = layouts.heads_first != layouts.positions_first;
    if (tells && other->operand(1) == op.operand(1)) return layouts.positions_first;
  }
  return std::nullopt;
}

}  // namespace mir
