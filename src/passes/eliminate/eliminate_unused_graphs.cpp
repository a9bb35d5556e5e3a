// Erases graphs that calls from the module body do not reach.
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"
#include "passes/eliminate/library_module.hpp"

namespace mir {

namespace {

/// The graphs to which calls from the module body lead, with those around them.
class UsedGraphs {
 public:
  explicit UsedGraphs(const CallGraph& calls) : calls_(calls), is_used_(calls.graphs().size()) {
    const Op* const top = calls.graphs().front();
    is_used_[0] = true;
    std::vector<const Op*> open{top};
    while (!open.empty()) {
      const Op* graph = open.back();
      open.pop_back();
      for (const CallGraph::Call& call : calls.calls_in(*graph)) use(call.target, open);
    }
  }

  bool has(std::size_t graph) const { return is_used_[graph]; }
  bool has(const Op& op) const {
    const auto graph = calls_.find(&op);
    return graph && is_used_[*graph];
  }

 private:
  void use(const Op* op, std::vector<const Op*>& open) {
    // A graph that is removed takes the graphs inside it along, so those around a used one stay.
    for (; op != nullptr; op = op->parent_op()) {
      const auto graph = calls_.find(op);
      if (!graph) continue;
      if (is_used_[*graph]) return;
      is_used_[*graph] = true;
      open.push_back(op);
    }
  }

  const CallGraph& calls_;
  std::vector<bool> is_used_;
};

}  // namespace

PassResult eliminate_unused_graphs(PassRun& run) {
  if (is_library(run.module())) return run.result();
  const CallGraph& calls = run.analysis<CallGraph>();
  const UsedGraphs used(calls);
  // Ops inside of an unused graph go or stay with it.
  const auto is_apart = [&](const Op& graph) {
    const Op* around = graph.parent_op();
    while (around != &run.anchor() && (!is_graph(*around) || used.has(*around))) {
      around = around->parent_op();
    }
    return around == &run.anchor();
  };
  Rewriter rewriter(run.module());
  for (std::size_t i = 1; i < calls.graphs().size(); ++i) {
    Op* graph = calls.graphs()[i];
    if (used.has(i) || graph->is_erased() || !isa<SubGraphOp>(graph)) continue;
    if (!is_apart(*graph) || is_declaration(*graph)) continue;
    rewriter.erase(*graph);
    run.count("graphs removed");
  }
  return run.result();
}

}  // namespace mir
