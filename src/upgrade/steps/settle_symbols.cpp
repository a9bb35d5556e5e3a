// Upgrade step: removes symbols of parameters from the ops that view them.
#include <unordered_set>

#include "upgrade/steps/recovery.hpp"

namespace mir {

/// A view of a parameter has its storage, and so its symbol; as a value it is the op's.
void settle_symbols(Recovery& recovery) {
  std::unordered_set<Symbol> registered;
  walk<RegisterOp>(recovery.module, [&](RegisterOp op) {
    if (op.value() != nullptr && op.value()->has_symbol()) registered.insert(op.value()->symbol());
  });
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) {
    for (Value& result : op->results()) {
      const bool repeats = result.has_symbol() && registered.contains(result.symbol());
      if (repeats) recovery.rewriter.clear_symbol(result);
    }
  });
}

}  // namespace mir
