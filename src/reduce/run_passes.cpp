// Steps that are passes.
#include <algorithm>
#include <initializer_list>

#include "ir/declaration_graphs.hpp"
#include "ir/ports.hpp"
#include "ir/version_needs.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

/// An edit for each pipeline and module of the draft.
Edits edits_of_pipelines(Draft& draft, std::initializer_list<std::string_view> pipelines) {
  Edits edits;
  for (Module* module : draft.modules()) {
    for (const std::string_view pipeline : pipelines) {
      edits.list.push_back([&draft, module, pipeline] { draft.run(*module, pipeline); });
    }
  }
  return edits;
}

bool has_calls(const Draft& draft) {
  bool found = false;
  for (const Module* module : draft.modules()) {
    for_each_op(*module, [&](const Op& op) { found |= isa<CallGraphOp>(&op); });
  }
  return found;
}

}  // namespace

Edits eliminate_unused(Draft& draft) {
  if (!draft.is_portable()) return {};
  return edits_of_pipelines(
      draft, {"eliminate-dead-ops", "eliminate-unused-graphs", "eliminate-unused-parameters"});
}

Edits inline_calls(Draft& draft) {
  if (!draft.is_portable() || !has_calls(draft)) return {};
  return edits_of_pipelines(draft, {"inline,eliminate-unused-graphs"});
}

Edits extract_graph(Draft& draft) {
  Edits edits;
  if (!draft.is_portable()) return edits;
  for (Module* module : draft.modules()) {
    for_each_child(module->body(), [&](const Op& op) {
      if (!isa<SubGraphOp>(&op) || is_declaration(op)) return;
      const std::string use =
          draft.use_of("extract-graph", "graph", module->context().text(op.symbol()));
      edits.list.push_back(
          [&draft, module, use] { draft.run(*module, use + ",inline,eliminate-unused-graphs"); });
    });
  }
  return edits;
}

namespace {

/// Leaves numbers as names of inputs and outputs.
void drop_ports(Module& module) {
  Rewriter rewriter(module);
  for_each_signature(module.body(), [&](Region& signature) {
    rewriter.set_ports(signature, {});
    for (const SignaturePort& port : ports_of(signature)) {
      if (!port.value->name().is_number()) rewriter.set_name(*port.value, module.fresh_name());
    }
  });
}

}  // namespace

Edits simplify_names(Draft& draft) {
  if (!draft.is_portable()) return edits_of_pipelines(draft, {"strip-locations"});
  Edits edits = edits_of_pipelines(draft, {"strip-locations", "strip-names", "number-values"});
  for (Module* module : draft.modules()) {
    bool has_words = false;
    for_each_signature(module->body(), [&](const Region& each) {
      has_words |= std::ranges::any_of(ports_of(each), [](const SignaturePort& port) {
        return !port.name.is_none() && !port.name.is_number();
      });
    });
    if (has_words) edits.list.insert(edits.list.begin(), [module] { drop_ports(*module); });
    const std::int64_t lowest = lowest_version(*module);
    if (lowest < module->version()) {
      edits.list.push_back([module, lowest] { Rewriter(*module).set_version(lowest); });
    }
  }
  return edits;
}

}  // namespace mir::reduce
