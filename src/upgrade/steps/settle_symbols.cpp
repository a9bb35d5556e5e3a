#include <unordered_set>

#include "upgrade/steps/recovery.hpp"

namespace mir {

/// A view of a parameter has its storage, and so its symbol; as a value it is the op's.
void settle_symbols(Recovery& recovery) {
  std::unordered_set<Symbol> registered;
  IRWriter(recovery.module).walk<RegisterOp>([&](IRWriter&, RegisterOp op) {
    if (op.value() != nullptr && op.value()->has_symbol()) registered.insert(op.value()->symbol());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  IRWriter(recovery.module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    for (Value& result : op->results()) {
      const bool repeats = result.has_symbol() && registered.contains(result.symbol());
      if (repeats) recovery.rewriter.clear_symbol(result);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

}  // namespace mir
