// Tells if a graph has ops or values that nothing uses.
#include "mir/analysis.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

bool has_unused_free_values(const Region& region) {
  for (const Value* value : region.free_values()) {
    if (!value->has_uses()) return true;
  }
  return false;
}

bool has_dead_code(const Region& region) {
  bool found = has_unused_free_values(region);
  for_each_child(region, [&](const Op& op) {
    if (found || op.has(Trait::kIsolated)) return;
    found = is_dead(op);
    for (Region* in = op.first_region(); in != nullptr && !found; in = in->next()) {
      found = has_dead_code(*in);
    }
  });
  return found;
}

}  // namespace

DeadCode::DeadCode(const Region& graph) : exists_(has_dead_code(graph)) {}

}  // namespace mir
