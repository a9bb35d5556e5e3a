// Marks views and slices for which upstream made a tensor of its own.
#include "mir/walk.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

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
