#include "passes/inline/inline_call.hpp"

#include <vector>

#include "ir/call_types.hpp"
#include "mir/walk.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/inline/single_exit.hpp"

namespace mir {

namespace {

/// Inlined ops come from the graph, at the call: see inlined_calls().
void locate(Rewriter& rewriter, const Op& graph, Location call) {
  if (!call) return;
  IRContext& context = graph.module().context();
  LocationTable& locations = context.locations();
  const Location at = locations.named(context.text(graph.symbol()), call);
  for_each_op(*graph.first_region(), WalkScope::kGraph, [&](Op& op) {
    if (op.location()) rewriter.set_location(op, locations.call_site(op.location(), at));
  });
}

}  // namespace

bool can_inline_call(const Op& call, const Op& graph, const CallGraph& calls) {
  const Op* exit = single_exit(graph.first_region());
  return exit != nullptr && !calls.is_recursive(graph) &&
         call.operand_count() == graph.first_region()->entry_arguments().size() &&
         call.result_count() == exit->operand_count() && call.first_region() == nullptr &&
         call.extra().successors.empty() && !CallTypes::are_own(call, graph);
}

void inline_call(Rewriter& rewriter, Op& call, const Op& graph) {
  RewriteMapping mapping;
  inline_only_call(rewriter, call, *rewriter.clone(graph, mapping));  // detached
}

void inline_only_call(Rewriter& rewriter, Op& call, Op& graph) {
  Region& body = *graph.first_region();
  locate(rewriter, graph, call.location());
  std::vector<Value*> operands;
  for (const Use& use : call.operand_uses()) operands.push_back(use.value());
  replace_by_region(rewriter, call, body, operands);
  rewriter.erase(graph);
}

}  // namespace mir
