// Replaces a call by a copy of its graph, and extends the locations.
#include "passes/inline/inline_call.hpp"

#include <utility>
#include <vector>

#include "ir/call_types.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/inline/single_exit.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kMostCalls = 8;  // that a location names

}  // namespace

bool CallInliner::can_inline(const Op& call, const Op& graph) const {
  const Op* exit = single_exit(graph.first_region());
  return exit != nullptr && !recursive_.contains(&graph) &&
         call.operand_count() == graph.first_region()->entry_arguments().size() &&
         call.result_count() == exit->operand_count() && call.first_region() == nullptr &&
         call.extra().successors.empty() && !CallTypes::are_own(call, graph);
}

CallInliner::LocatedOps& CallInliner::ops_of(const Op& graph) {
  const auto [found, is_new] = ops_.try_emplace(&graph);
  LocatedOps& ops = found->second;
  if (is_new) {
    for_each_op(*graph.first_region(), [&](Op& op) { ops.push_back({&op}); });
  }
  return ops;
}

/// The ops of the graph will be where the call is.
void CallInliner::locate(const Op& graph, const Op& call) {
  LocatedOps& around = ops_of(*graph_around(*call.parent_region()).parent());
  const LocatedOps inside = std::move(ops_of(graph));
  ops_.erase(&graph);
  IRContext& context = graph.module().context();
  LocationTable& locations = context.locations();
  const Location at = locations.named(context.text(graph.symbol()), call.location());
  for (const auto& [op, calls] : inside) {
    if (op->is_erased()) continue;
    if (op->location() && call.location()) {
      rewriter_.set_location(*op, locations.call_site(op->location(), at));
    }
    if (calls + 1 < kMostCalls) around.push_back({op, calls + 1});
  }
}

void CallInliner::inline_copy(Op& call, const Op& graph) {
  RewriteMapping mapping;
  Op& copy = *rewriter_.clone(graph, mapping);  // detached
  erase_inner_graphs(rewriter_, copy);
  inline_only(call, copy);
}

void CallInliner::inline_only(Op& call, Op& graph) {
  locate(graph, call);
  std::vector<Value*> operands;
  for (const Use& use : call.operand_uses()) operands.push_back(use.value());
  replace_by_region(rewriter_, call, *graph.first_region(), operands);
  rewriter_.erase(graph);
}

}  // namespace mir
