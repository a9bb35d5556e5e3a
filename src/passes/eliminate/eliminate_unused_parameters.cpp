// Erases registers of parameters that no op uses.
#include <unordered_set>
#include <vector>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "passes/eliminate/eliminations.hpp"

namespace mir {

PassResult eliminate_unused_parameters(PassRun& run) {
  std::unordered_set<Symbol> used;
  std::vector<Op*> registers;
  for_each_op(run.module(), [&](Op& op) {
    if (isa<RegisterOp>(&op)) {
      registers.push_back(&op);
      return;
    }
    if (const auto named = named_parameter(op)) used.insert(*named);
    for (const Use& use : op.operand_uses()) {
      if (use.value()->has_symbol()) used.insert(use.value()->symbol());
    }
    for (const OwnedParameter& owned : owned_parameters(op)) used.insert(owned.symbol);
  });
  Rewriter rewriter(run.module());
  for (Op* op : registers) {
    const Value* parameter = RegisterOp(op).value();
    if (parameter == nullptr || !parameter->has_symbol() || parameter->has_uses() ||
        used.contains(parameter->symbol())) {
      continue;
    }
    rewriter.erase(*op);
    run.count("parameters removed");
  }
  return run.result();
}

}  // namespace mir
