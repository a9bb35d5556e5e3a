// Selects the graphs and regions in which a group of a pipeline runs.
#include "passes/run/anchors.hpp"

#include <algorithm>

#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"
#include "support/wildcards.hpp"

namespace mir {

namespace {

bool selects_name(const PipelineItem* group, std::string_view name) {
  return group == nullptr || !group->selector || fits_wildcards(*group->selector, name);
}

/// The name by which people know an op.
std::string_view name_of(const Op& op) {
  const IRContext& context = op.module().context();
  return op.has_path() ? context.text(op.path()) : context.text(op.symbol());
}

bool is_kind(std::string_view wanted, const Op& op) {
  return wanted.empty() || op.name() == wanted;
}

void add_graphs(const Scope& scope, const Region& region, std::vector<Op*>& graphs) {
  if (!region.may_have_graphs()) return;
  for_each_op(region, [&](Op& op) {
    if (!is_graph(op) || op.first_region() == nullptr) return;
    if (selects_name(scope.of(Anchor::kGraph), op.module().context().text(op.symbol()))) {
      graphs.push_back(&op);
    }
    add_graphs(scope, *op.first_region(), graphs);
  });
}

void add_regions(Region& region, std::vector<AnchorPlace>& places) {
  for (Block* block : region.blocks()) {
    for (Op* op : block->ops()) {
      if (op->has(Trait::kIsolated)) continue;
      for (Region* in = op->first_region(); in != nullptr; in = in->next()) {
        add_regions(*in, places);
      }
    }
  }
  places.push_back({&region});
}

}  // namespace

Scope::Scope(std::span<const PipelineItem* const> groups) {
  for (const PipelineItem* group : groups) groups_[static_cast<std::size_t>(group->anchor)] = group;
}

bool selects_module(const Scope& scope, const Module& module) {
  return selects_name(scope.of(Anchor::kModule), module.context().text(module.name()));
}

std::vector<Op*> selected_graphs(const Scope& scope, Module& module) {
  std::vector<Op*> graphs;
  if (selects_name(scope.of(Anchor::kGraph), module.context().text(module.name()))) {
    graphs.push_back(module.top());
  }
  add_graphs(scope, module.body(), graphs);
  return graphs;
}

std::vector<AnchorPlace> places_in(const Scope& scope, const Pass& pass, Region& body) {
  std::vector<AnchorPlace> places;
  if (pass.anchor == Anchor::kRegion) {
    add_regions(body, places);
  } else {
    const PipelineItem* group = scope.of(Anchor::kOp);
    for_each_op(body, [&](Op& op) {
      const bool is_wanted = is_kind(pass.op, op) && (group == nullptr || is_kind(group->op, op));
      if (is_wanted && selects_name(group, name_of(op)))
        places.push_back({op.parent_region(), &op});
    });
  }
  return places;
}

}  // namespace mir
