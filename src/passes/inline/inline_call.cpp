#include "passes/inline/inline_call.hpp"

#include <vector>

#include "ir/call_types.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/inline/single_exit.hpp"

namespace mir {

namespace {

/// Inlined ops come from the graph, at the call.
void locate(Rewriter& rewriter, const Region& body, Location call, LocationTable& locations) {
  for (Op* op : body.entry()->ops()) {
    const Location callee = op->location();
    if (callee && call) rewriter.set_location(*op, locations.call_site(callee, call));
  }
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
  locate(rewriter, body, call.location(), call.module().context().locations());
  std::vector<Value*> operands;
  for (const Use& use : call.operand_uses()) operands.push_back(use.value());
  replace_by_region(rewriter, call, body, operands);
  rewriter.erase(graph);
}

}  // namespace mir
