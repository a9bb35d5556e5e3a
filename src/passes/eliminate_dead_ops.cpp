#include <algorithm>

#include "mir/module.hpp"
#include "passes/eliminations.hpp"

namespace mir {

namespace {

/// Ops without an effect whose results nobody reads, from the last to the first of each block.
void remove_dead_ops(Module& module, Region& region) {
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Op* op : block->reversed()) {
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        remove_dead_ops(module, *inner);
      }
      const bool pure = op->row() != nullptr && has(op->row()->traits, Trait::kPure);
      const auto results = op->results();
      if (!pure || std::ranges::any_of(results, [](const Value& each) { return each.has_uses(); }))
        continue;
      module.erase(op);
    }
  }
  module.remove_unused_free_values(region);
}

}  // namespace

bool eliminate_dead_ops(Module& module, Diagnostics&) {
  remove_dead_ops(module, module.body());
  return true;
}

}  // namespace mir
