// Selections made by the groups of a pipeline.
#pragma once

#include <string_view>
#include <vector>

#include "mir/pass.hpp"

namespace mir {

/// The groups around a pass, by what they are of; null: none of that kind.
struct Scope {
  explicit Scope(std::span<const PipelineItem* const> groups);

  const PipelineItem* of(Anchor anchor) const { return groups_[static_cast<std::size_t>(anchor)]; }
  /// True if selected_graphs() returns the same graphs for both.
  bool selects_same_graphs(const Scope& other) const {
    return of(Anchor::kGraph) == other.of(Anchor::kGraph);
  }

 private:
  const PipelineItem* groups_[4] = {};
};

bool selects_module(const Scope& scope, const Module& module);

/// The module's op, for its body, and the graphs inside it in text order, those that are selected.
std::vector<Op*> selected_graphs(const Scope& scope, Module& module);

/// One place of a graph on which a pass is run.
struct AnchorPlace {
  Region* region = nullptr;
  Op* op = nullptr;  ///< of a pass on ops; null for others
};

/// The places of a graph on which a pass on regions or ops is run: the regions from the innermost,
/// or the ops in order. An op that was erased meanwhile, and a region of it, is left out by the
/// caller.
std::vector<AnchorPlace> places_in(const Scope& scope, const Pass& pass, Region& body);

}  // namespace mir
