#include <algorithm>

#include "mir/analysis.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"

namespace mir {

Effects::Effects(const Module&, Analyses& analyses) {
  const auto& calls = analyses.get<CallGraph>();
  for (const Op* graph : calls.graphs()) {
    for (const CallGraph::Call& call : calls.calls_in(*graph)) {
      targets_.emplace(call.op, call.target);
    }
  }
  // A call of a graph that is not known yet is part of a cycle of calls, which may not end.
  for (const Op* graph : calls.bottom_up()) graphs_.emplace(graph, summary_inside(*graph));
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
  if (callee_of(op)) {
    const auto target = targets_.find(&op);
    const auto found = target == targets_.end() ? graphs_.end() : graphs_.find(target->second);
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
  return summary_of(op).is_pure;
}

}  // namespace mir
