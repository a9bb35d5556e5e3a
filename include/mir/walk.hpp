// Walks that only read: over the ops of a region or an op, over nested regions, over values.
//
// Text order; nested ops come after the op that contains them. A walk that edits what it visits
// uses mir::walk (mir/rewriter.hpp).
#pragma once

#include <cstdint>

#include "mir/op.hpp"

namespace mir {

/// Whether a walk also visits what is inside isolated ops, such as graphs.
enum class WalkScope : std::uint8_t {
  kGraph,  ///< visits isolated ops, but not what is inside them
  kAll
};

/// What a walk visits. Regions and modules convert to it: a walk over a region stays in the graph
/// of the region, a walk over a module visits all graphs.
struct WalkRoot {
  WalkRoot(const Region& from, WalkScope how = WalkScope::kGraph)
      : region(const_cast<Region&>(from)), scope(how) {}
  WalkRoot(const Module& module);

  /// True unless the walk leaves out what is inside the op.
  bool enters(const Op& op) const { return scope == WalkScope::kAll || !op.has(Trait::kIsolated); }

  Region& region;  ///< not const, as the ops that a walk visits
  WalkScope scope;
};

/// Calls `visit(Op&)` for each op of the region's blocks, without the ops nested in those. The
/// current op may be erased.
template <class Visit>
void for_each_child(const Region& region, const Visit& visit) {
  for (Block* block : region.blocks()) {
    for (Op* op : block->ops()) visit(*op);
  }
}

/// The same for each region of the op.
template <class Visit>
void for_each_child(const Op& op, const Visit& visit) {
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for_each_child(*region, visit);
  }
}

/// Calls `visit(Op&)` for each op of a region or module and for the ops nested in it, but not in
/// templates.
template <class Visit>
void for_each_op(WalkRoot root, const Visit& visit) {
  for_each_child(root.region, [&](Op& op) {
    visit(op);
    if (!root.enters(op) || op.has(Trait::kTemplate)) return;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      for_each_op({*inner, root.scope}, visit);
    }
  });
}

/// Calls `visit(Region&)` for a region, or the body of a module, and for the regions nested in it.
template <class Visit>
void for_each_region(WalkRoot root, const Visit& visit) {
  visit(root.region);
  for_each_child(root.region, [&](Op& op) {
    if (!root.enters(op)) return;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      for_each_region({*inner, root.scope}, visit);
    }
  });
}

/// Calls `visit(Value&, Op&)` for each free value, block argument and result of a region or module
/// and of the regions nested in it. The op is the one with the result; for the other values it is
/// the op that has their region.
template <class Visit>
void for_each_value(WalkRoot root, const Visit& visit) {
  Op& owner = *root.region.parent();
  for (Value* value : root.region.free_values()) visit(*value, owner);
  for (Block* block : root.region.blocks()) {
    for (Value& argument : block->arguments()) visit(argument, owner);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) visit(result, *op);
      if (!root.enters(*op)) continue;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        for_each_value({*inner, root.scope}, visit);
      }
    }
  }
}

}  // namespace mir
