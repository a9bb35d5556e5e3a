// Replaces an op by the body that its row defines, or adds the body as a graph.
#include "ir/rewrite/bodies.hpp"

#include <algorithm>
#include <vector>

#include "mir/ops.hpp"

namespace mir {

bool is_held_by_tensors(const Op& op) {
  const auto is_held = [](const Value& value) {
    return value.tensor_type() == nullptr && value.held_type() != nullptr;
  };
  return std::ranges::any_of(op.results(), is_held) ||
         std::ranges::any_of(op.operand_uses(),
                             [&](const Use& use) { return is_held(*use.value()); });
}

bool replace_by_body(Rewriter& rewriter, Op& op, Diagnostics& diagnostics) {
  std::vector<Value*> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value());
  rewriter.set_insertion_point(op);
  const Location before = rewriter.default_location();
  rewriter.set_default_location(op.location());
  const auto values = op.row()->body(op, operands, rewriter, diagnostics);
  rewriter.set_default_location(before);
  if (!values) return false;
  std::vector<std::pair<Value*, ValueName>> renamed;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const bool is_new = std::ranges::find(operands, (*values)[i]) == operands.end();
    if (is_new) renamed.emplace_back((*values)[i], op.result(i)->name());
  }
  rewriter.replace(op, *values);
  for (const auto& [value, name] : renamed) rewriter.set_name(*value, name);
  return true;
}

Op* add_body_graph(Module& into, const Op& op, std::string_view symbol, Diagnostics& diagnostics) {
  std::vector<const Type*> types;
  for (const Use& use : op.operand_uses()) {
    const TensorType* held = use.value()->held_type();
    types.push_back(held == nullptr ? use.value()->type() : held);
  }
  Builder builder(into, diagnostics);
  builder.set_insertion_point_to_end(*into.body().entry());
  Op* graph = builder.subgraph(symbol, types);
  if (graph == nullptr) return nullptr;
  std::vector<Value*> operands;
  for (Value& argument : builder.insertion_block()->arguments()) operands.push_back(&argument);
  builder.set_default_location(op.location());
  const auto values = op.row()->body(op, operands, builder, diagnostics);
  if (values) {
    builder.return_op(*values);
    return graph;
  }
  builder.erase(*graph);
  return nullptr;
}

}  // namespace mir
