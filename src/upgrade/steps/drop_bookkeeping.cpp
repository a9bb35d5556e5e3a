// Upgrade step: erases frees of storage, registers of ops and debug comments.
#include "upgrade/steps/recovery.hpp"

namespace mir {

/// Storage is the planner's business in portable form, and op names say what registers said.
void drop_bookkeeping(Recovery& recovery) {
  std::size_t frees = 0;
  walk<OpView>(recovery.module, [&](OpView op) {
    const bool bookkeeping = op->is(OpId::kTensorFree, OpId::kLinalgRegister, OpId::kDbgComment);
    if (!bookkeeping) return;
    if (op->result_count() != 0) {
      recovery.refuse(*op.op(), "signature", "it has results");
      return;
    }
    frees += op->is(OpId::kTensorFree) ? 1 : 0;
    const Attr* text = op->is(OpId::kDbgComment) ? op->attribute(key::kText) : nullptr;
    if (text != nullptr) {
      recovery.note(*op.op(), LossEntry::Source::kDropped, key::kText,
                    std::string(text->spelling()));
    }
    if (const auto name = recovery.module.declared_symbol(op.op())) {
      recovery.notes.declared_names.emplace_back(*name, op->location());
    }
    recovery.rewriter.erase(*op.op());
  });
  if (frees == 0) return;
  recovery.note(*recovery.module.top(), LossEntry::Source::kDropped, "tensor.free operations",
                fmt::to_string(frees));
}

}  // namespace mir
