#include <algorithm>

#include "mir/op.hpp"
#include "mir/rewriter.hpp"
#include "passes/eliminate/eliminations.hpp"

namespace mir {

namespace {

/// Erases dead ops, from the last to the first of each block.
std::uint64_t remove_dead_ops(Rewriter& rewriter, Region& region) {
  std::uint64_t removed = 0;
  for (Block* block : region.reversed_blocks()) {
    for (Op* op : block->reversed()) {
      if (op->has(Trait::kIsolated)) continue;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        removed += remove_dead_ops(rewriter, *inner);
      }
      if (is_dead(*op)) {
        rewriter.erase(*op);
        ++removed;
      }
    }
  }
  rewriter.erase_unused_free_values(region);
  return removed;
}

}  // namespace

PassResult eliminate_dead_ops(PassRun& run) {
  Rewriter rewriter(run.module());
  run.count("ops removed", remove_dead_ops(rewriter, run.region()));
  return run.result();
}

}  // namespace mir
