#include <algorithm>

#include "mir/op.hpp"
#include "mir/rewriter.hpp"
#include "passes/eliminations.hpp"

namespace mir {

namespace {

/// Ops without an effect whose results nobody reads, from the last to the first of each block.
void remove_dead_ops(Rewriter& rewriter, Region& region) {
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Op* op : block->reversed()) {
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        remove_dead_ops(rewriter, *inner);
      }
      if (is_pure(*op) && std::ranges::none_of(op->results(), &Value::has_uses)) {
        rewriter.erase(*op);
      }
    }
  }
  rewriter.erase_unused_free_values(region);
}

}  // namespace

bool eliminate_dead_ops(Module& module, Diagnostics&) {
  Rewriter rewriter(module);
  remove_dead_ops(rewriter, module.body());
  return true;
}

}  // namespace mir
