// Summarises effects and possible refusals of ops through calls.
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "ir/erasable.hpp"
#include "mir/analysis.hpp"
#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

// -- effects --------------------------------------------------------------------------------------

Effects::Effects(const Module& module, Analyses& analyses) {
  const auto& calls = analyses.get<CallGraph>();
  if (calls.graphs().size() == 1) return;
  // A call of a graph that is not known yet is part of a cycle of calls, which may not end.
  for (const Op* graph : calls.bottom_up()) {
    const auto name = module.declared_symbol(graph);
    if (graph == module.top() || !name || is_declaration(*graph)) continue;
    if (module.lookup_op(*name) == graph) graphs_.emplace(*name, summary_inside(*graph));
  }
}

Effects::Summary Effects::summary_inside(const Op& op) const {
  Summary all;
  for_each_child(op, [&](const Op& inner) {
    // A graph is there to be called.
    if (is_graph(inner)) return;
    const Summary one = summary_of(inner);
    const bool known = all.effects && one.effects;
    all.effects = known ? std::optional(*all.effects | *one.effects) : std::nullopt;
    // What ends a block of something pure is no effect of it.
    all.is_pure = all.is_pure && (one.is_pure || inner.has(Trait::kTerminator));
  });
  return all;
}

Effects::Summary Effects::summary_of(const Op& op) const {
  if (const auto callee = callee_of(op)) {
    const auto found = graphs_.find(*callee);
    if (found == graphs_.end()) return {.effects = std::nullopt, .is_pure = false};
    Summary called = found->second;
    if (called.effects) called.effects = *called.effects & ~Effect::kControl;
    return called;
  }
  if (op.first_region() == nullptr) return {effects_of(op), mir::is_pure(op)};
  Summary all = summary_inside(op);
  const OpRow* row = op.row();
  if (row == nullptr) return {.effects = std::nullopt, .is_pure = false};
  if (all.effects) all.effects = *all.effects | row->effects;
  all.is_pure = all.is_pure && op.has(Trait::kPure) && row->effects == Effect::kNone;
  return all;
}

std::optional<Effect> Effects::of(const Op& op) const {
  return summary_of(op).effects;
}

bool Effects::is_pure(const Op& op) const {
  return graphs_.empty() ? mir::is_pure(op) : summary_of(op).is_pure;
}

bool Effects::is_dead(const Op& op) const {
  return graphs_.empty() ? mir::is_dead(op) : is_unused(op) && is_pure(op);
}

// -- refusals -------------------------------------------------------------------------------------

namespace {

bool is_in_loop(const Op& op) {
  const Op* around = op.parent_op();
  while (!around->has(Trait::kIsolated) && !is_loop(*around)) around = around->parent_op();
  return !around->has(Trait::kIsolated);
}

}  // namespace

Refusals::Refusals(const Module&, Analyses& analyses) {
  const auto& calls = analyses.get<CallGraph>();
  std::vector<Op*> roots;
  for (const Op* graph : calls.graphs()) {
    for (const CallGraph::Call& call : calls.calls_in(*graph)) {
      if (call.target != nullptr && is_in_loop(*call.op)) roots.push_back(call.target);
    }
  }
  if (roots.empty()) return;
  const std::vector<Op*> reached = calls.reached_from(roots);
  const std::unordered_set<const Op*> wanted(reached.begin(), reached.end());
  for (const Op* graph : calls.bottom_up()) {
    if (!wanted.contains(graph) || may_refuse_inside(*graph)) continue;
    for (const Op* call : calls.calls_of(*graph)) never_.insert(*callee_of(*call));
  }
}

bool Refusals::may_refuse_inside(const Op& op) const {
  bool refuses = false;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for_each_op(*region, [&](const Op& inner) {
      const bool runs = !inner.has(Trait::kTerminator) && !is_graph(inner);
      refuses = refuses || (runs && may_refuse(inner));
    });
  }
  return refuses;
}

bool Refusals::may_refuse(const Op& op) const {
  const auto callee = callee_of(op);
  if (!callee) return mir::may_refuse(op);
  // A run compares other extents with the types of the graph.
  return !never_.contains(*callee) || !has_static_types(op);
}

}  // namespace mir
