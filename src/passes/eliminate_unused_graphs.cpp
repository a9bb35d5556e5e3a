#include <algorithm>
#include <vector>

#include "mir/ops.hpp"
#include "passes/eliminations.hpp"

namespace mir {

/// Graphs that no call leads to from the module body. `@init` and its kin are declarations.
bool eliminate_unused_graphs(Module& module, Diagnostics&) {
  std::vector<Op*> open{module.top()}, used;
  while (!open.empty()) {
    Region& region = *open.back()->region();
    open.pop_back();
    IRWriter(module, region).walk<OpView>([&](IRWriter&, OpView inner) {
      if (isa<SubGraphOp>(inner.op())) return IRWriter::WalkResult::WALK_SKIP;
      const auto call = dyn_cast<CallGraphOp>(inner.op());
      Op* target = call ? call.target().op() : nullptr;
      if (target != nullptr && std::ranges::find(used, target) == used.end()) {
        used.push_back(target);
        open.push_back(target);
      }
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
  }
  IRWriter(module).walk<SubGraphOp>([&](IRWriter& writer, SubGraphOp graph) {
    const bool declares = graph->symbol() == module.context().intern("init");
    if (!declares && std::ranges::find(used, graph.op()) == used.end()) writer.removeOp(graph.op());
    return IRWriter::WalkResult::WALK_SKIP;
  });
  return true;
}

}  // namespace mir
