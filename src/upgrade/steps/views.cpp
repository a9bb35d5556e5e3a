// Views of values: creates and recognises them, and marks those that have a storage of their own.
#include "mir/walk.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

Value* make_view(Module& module, Value& value, const TensorType& type, Op& before,
                 Location location) {
  IRContext& context = module.context();
  std::vector<const Attr*> extents;
  for (const Dim dim : type.dims()) extents.push_back(context.dim(dim));
  const NamedAttr shape{key::kToShape, context.array(extents)};
  Value* operand = &value;
  const Type* result = &type;
  Rewriter rewriter(module);
  rewriter.set_insertion_point(before);
  return rewriter
      .create({.name = context.op_name(OpId::kLinalgView, type.device()),
               .operands = std::span(&operand, 1),
               .result_types = std::span(&result, 1),
               .attributes = std::span(&shape, 1),
               .location = location})
      ->result();
}

bool is_view(const Type* from, const Type* to) {
  const auto *a = dyn_cast<TensorType>(from), *b = dyn_cast<TensorType>(to);
  return a != nullptr && b != nullptr && a != b && a->element_count() &&
         a->element_count() == b->element_count() && a->dtype_name() == b->dtype_name() &&
         a->device() == b->device() && a->encoding() == b->encoding();
}

namespace {

/// Upstream prints a view or a slice under the number of its operand, unless it was told to make a
/// tensor of its own.
void note_own_storage(Recovery& recovery, Op& op) {
  const bool may_share = op.is(OpId::kLinalgView, OpId::kLinalgSlice) && op.operand_count() == 1 &&
                         op.result_count() == 1;
  if (may_share && op.result()->name() != op.operand(0)->name()) {
    recovery.derive(op, key::kEnableSsa, recovery.context().boolean(true));
  }
}

}  // namespace

void recover_own_storage(Recovery& recovery) {
  for_each_op(recovery.module, [&](Op& op) { note_own_storage(recovery, op); });
}

}  // namespace mir
