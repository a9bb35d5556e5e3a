#include "census.hpp"

#include <algorithm>

#include "report.hpp"

namespace mir::checks {

namespace {

bool has_key(std::span<const NamedAttr> attributes, Symbol key) {
  return std::ranges::find(attributes, key, &NamedAttr::key) != attributes.end();
}

}  // namespace

Census::Census(const Module& module) {
  IRContext& context = module.context();
  const Kinds kinds{kind_of(context, "graph.SubGraphOp"),   kind_of(context, "graph.CallGraphOp"),
                    kind_of(context, "tensor.free"),        kind_of(context, "prog.free"),
                    kind_of(context, "prog.kernel_symbol"), context.intern("quant_recipe")};
  region(module.body(), nullptr, kinds);
}

void Census::region(const Region& region, const Op* graph, const Kinds& kinds) {
  has_flow = has_flow || region.entry() != region.last_block();
  for (const Value* value : region.free_values()) {
    has_recipes = has_recipes || has_key(value->attributes(), kinds.recipe);
  }
  for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (const Value& argument : block->arguments()) {
      has_recipes = has_recipes || has_key(argument.attributes(), kinds.recipe);
    }
    for (const Op* each : block->ops()) op(*each, graph, kinds);
  }
}

void Census::op(const Op& op, const Op* graph, const Kinds& kinds) {
  const OpKind kind = op.kind();
  if (kind == kinds.graph) graphs.push_back(&op);
  if (kind == kinds.call) {
    calls.push_back(&op);
    callers.push_back(graph);
  }
  has_frees = has_frees || kind == kinds.free || kind == kinds.program_free;
  has_kernels = has_kernels || kind == kinds.kernel;
  has_flow = has_flow || !op.extra().successors.empty();
  bool declares = op.row() != nullptr && has(op.row()->traits, Trait::kSymbol);
  for (const Value& result : op.results()) {
    declares = declares || result.has_symbol();
    has_recipes = has_recipes || has_key(result.attributes(), kinds.recipe);
  }
  has_recipes = has_recipes || has_key(op.attributes(), kinds.recipe);
  if (declares) declarations.push_back(&op);
  const Op* inner_graph = kind == kinds.graph ? &op : graph;
  for (const Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
    region(*inner, inner_graph, kinds);
  }
}

}  // namespace mir::checks
