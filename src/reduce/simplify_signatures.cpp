// Steps that remove inputs and outputs of graphs and modules.
#include <memory>

#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "reduce/signatures.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

/// Calls `visit(signatures, graph)` for the body of each portable module and of its graphs.
template <class Visit>
void for_each_signature(Draft& draft, const Visit& visit) {
  for (Module* module : draft.modules()) {
    if (!module->is_portable()) continue;
    const auto signatures = std::make_shared<Signatures>(*module);
    for_each_op(*module, [&](const Op& op) {
      if (isa<SubGraphOp>(&op) && op.region_count() == 1) visit(signatures, *op.first_region());
    });
    visit(signatures, module->body());
  }
}

}  // namespace

// The last ones come first, so that the indices of others do not change.

Edits drop_outputs(Draft& draft) {
  Edits edits;
  for_each_signature(draft, [&](const auto& signatures, Region& graph) {
    for (std::size_t i = graph.result_types().size(); i-- > 0;) {
      edits.list.push_back([signatures, &graph, i] { signatures->drop_output(graph, i); });
    }
  });
  return edits;
}

Edits drop_inputs(Draft& draft) {
  Edits edits;
  for_each_signature(draft, [&](const auto& signatures, Region& graph) {
    for (std::size_t i = graph.entry_arguments().size(); i-- > 0;) {
      if (graph.entry_arguments()[i].has_uses()) continue;
      edits.list.push_back([signatures, &graph, i] { signatures->drop_input(graph, i); });
    }
  });
  return edits;
}

Edits merge_inputs(Draft& draft) {
  Edits edits;
  for_each_signature(draft, [&](const auto& signatures, Region& graph) {
    const ValueRange inputs = graph.entry_arguments();
    for (std::size_t i = inputs.size(); i-- > 0;) {
      std::size_t first = 0;
      while (inputs[first].type() != inputs[i].type()) ++first;
      if (first == i) continue;
      edits.list.push_back([signatures, &graph, i, from = &inputs[i], to = &inputs[first]] {
        signatures->rewriter().replace_all_uses(*from, *to);
        signatures->drop_input(graph, i);
      });
    }
  });
  return edits;
}

}  // namespace mir::reduce
