// Walks that only read: over the ops of a region or an op, over nested regions, over values.
//
// Text order; nested ops come after the op that contains them. A walk over a region stays in its
// graph unless the caller asks for WalkScope::kAll; a walk over a module visits all its graphs. A
// walk that edits what it visits uses mir::walk (mir/rewriter.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "mir/op.hpp"

namespace mir {

/// Whether a walk over a region also visits what is inside isolated ops, such as graphs.
enum class WalkScope : std::uint8_t {
  kGraph,  ///< visits isolated ops, but not what is inside them
  kAll
};

/// Any module; its definition is not needed here.
template <class T>
concept IsModule = std::same_as<std::remove_const_t<T>, Module>;

/// Fetches so many lines from an address on into the cache; an op with few operands takes five. A
/// hint: any address is allowed.
inline void fetch(const void* at, std::uintptr_t lines = 5) {
  constexpr std::uintptr_t kLine = 64;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(at);
  for (std::uintptr_t i = 0; i < lines; ++i) {
    __builtin_prefetch(reinterpret_cast<const void*>(first + i * kLine));
  }
}

/// Fetches the memory of ops that follow in the text. Ops lie in memory in text order, at distances
/// that no processor predicts.
inline void fetch_ahead(const Op* op) {
  constexpr std::uintptr_t kDistance = 1536;
  fetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(op) + kDistance));
}

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

/// Calls `visit(Op&)` for each op of the region and for the ops nested in it, but not in templates.
template <class Visit>
void for_each_op(const Region& region, WalkScope scope, const Visit& visit) {
  for_each_child(region, [&](Op& op) {
    fetch_ahead(&op);
    visit(op);
    if (op.has(Trait::kTemplate)) return;
    if (scope == WalkScope::kGraph && op.has(Trait::kIsolated)) return;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      for_each_op(*inner, scope, visit);
    }
  });
}
template <class Visit>
void for_each_op(const Region& region, const Visit& visit) {
  for_each_op(region, WalkScope::kGraph, visit);
}
template <IsModule AnyModule, class Visit>
void for_each_op(const AnyModule& module, const Visit& visit) {
  for_each_op(module.body(), WalkScope::kAll, visit);
}

/// Calls `visit` for the region and for the regions nested in it, as what the first one is: Region&
/// or const Region&.
template <class AnyRegion, class Visit>
requires std::same_as<std::remove_const_t<AnyRegion>, Region>
void for_each_region(AnyRegion& region, WalkScope scope, const Visit& visit) {
  visit(region);
  for_each_child(region, [&](Op& op) {
    if (scope == WalkScope::kGraph && op.has(Trait::kIsolated)) return;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      for_each_region<AnyRegion>(*inner, scope, visit);
    }
  });
}
template <class AnyRegion, class Visit>
requires std::same_as<std::remove_const_t<AnyRegion>, Region>
void for_each_region(AnyRegion& region, const Visit& visit) {
  for_each_region(region, WalkScope::kGraph, visit);
}
template <IsModule AnyModule, class Visit>
void for_each_region(const AnyModule& module, const Visit& visit) {
  for_each_region(module.body(), WalkScope::kAll, visit);
}

/// Calls `visit(Value&, Op&)` for each free value, block argument and result of the region and of
/// the regions nested in it. The op is the one with the result; for the other values it is the op
/// that has their region.
template <class Visit>
void for_each_value(const Region& region, WalkScope scope, const Visit& visit) {
  Op& owner = *region.parent();
  for (Value* value : region.free_values()) visit(*value, owner);
  for (Block* block : region.blocks()) {
    for (Value& argument : block->arguments()) visit(argument, owner);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) visit(result, *op);
      if (scope == WalkScope::kGraph && op->has(Trait::kIsolated)) continue;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        for_each_value(*inner, scope, visit);
      }
    }
  }
}
template <class Visit>
void for_each_value(const Region& region, const Visit& visit) {
  for_each_value(region, WalkScope::kGraph, visit);
}
template <IsModule AnyModule, class Visit>
void for_each_value(const AnyModule& module, const Visit& visit) {
  for_each_value(module.body(), WalkScope::kAll, visit);
}

}  // namespace mir
