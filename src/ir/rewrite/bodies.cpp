// Replaces an op by the body that its row defines, or adds the body as a graph.
#include "ir/rewrite/bodies.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/ops.hpp"

namespace mir {

namespace {

/// The value, or the tensor or value of a declared type that it is as the wanted type.
Value* cast_to(Rewriter& rewriter, Value& value, const Type* wanted) {
  const bool is_declared = dyn_cast<DialectType>(value.type()) != nullptr;
  const bool wants_declared = dyn_cast<DialectType>(wanted) != nullptr;
  if (value.type() == wanted || is_declared == wants_declared) return &value;
  Value* const operands[] = {&value};
  return rewriter
      .create({.name = rewriter.context().op_name(OpId::kDialectCast),
               .operands = operands,
               .result_types = {&wanted, 1}})
      ->result();
}

}  // namespace

bool replace_by_body(Rewriter& rewriter, Op& op, Diagnostics& diagnostics) {
  rewriter.set_insertion_point(op);
  const Location location = rewriter.default_location();
  rewriter.set_default_location(op.location());
  Op* const before = op.previous();
  std::vector<Value*> operands;
  for (const Use& use : op.operand_uses()) {
    const TensorType* held = use.value()->held_type();
    operands.push_back(held == nullptr ? use.value() : cast_to(rewriter, *use.value(), held));
  }
  Op* const last_cast = op.previous();
  auto values = op.row()->body(op, operands, rewriter, diagnostics);
  if (!values) {
    for (Op* cast = last_cast; cast != before;) {
      Op& each = *cast;
      cast = cast->previous();
      rewriter.erase(each);
    }
    rewriter.set_default_location(location);
    return false;
  }
  const auto first = [&] { return before == nullptr ? op.block()->front() : before->next(); };
  rewriter.set_insertion_point(op);
  for (const Value& result : op.results()) {
    Value*& value = (*values)[result.index()];
    value = cast_to(rewriter, *value, result.type());
  }
  std::unordered_set<const Op*> made;
  for (const Op* each = first(); each != &op; each = each->next()) made.insert(each);
  std::vector<std::pair<Value*, ValueName>> renamed;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Op* definition = (*values)[i]->defining_op();
    if (made.contains(definition)) renamed.emplace_back((*values)[i], op.result(i)->name());
  }
  rewriter.set_default_location(location);
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
