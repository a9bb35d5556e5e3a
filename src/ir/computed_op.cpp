// Returns the op that a graph op or a program's launch computes.
#include "ir/computed_op.hpp"

#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

OpId computed_op(const Op& op) {
  if (!op.is(OpId::kProgKernelLaunch)) return op.op_id();
  const Attr* type = op.attribute(key::kOpType);
  if (type == nullptr || type->kind() != AttrKind::kString) return OpId::kNone;
  const IRContext& context = op.module().context();
  return context.find_kernel(type->text(), op.operand_count()).value_or(OpId::kNone).op();
}

}  // namespace mir
