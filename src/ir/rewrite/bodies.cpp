// Replaces an op by the body that its row defines, or adds the body as a graph.
#include "ir/rewrite/bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/extent_walk.hpp"
#include "ir/rewrite/carried_scales.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/runs.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

const Region* region_of_run(const Op& run, const Op& op) {
  const Attr* number = run.attribute(key::kRegion);
  const std::int64_t region = number == nullptr ? 0 : number->integer();
  return region < 0 || region >= op.region_count() ? nullptr
                                                   : op.region(static_cast<std::uint32_t>(region));
}

namespace {

/// The op in the regions of which there can be one only: it declares a symbol or finds one out.
const Op* single_op_in(const Op& op) {
  const Op* found = nullptr;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for_each_op(*region, [&](const Op& inner) {
      const bool declares = (inner.has_symbol() && !callee_of(inner)) ||
                            std::ranges::any_of(inner.results(), &Value::has_symbol);
      if (found == nullptr && (declares || finds_out_symbols(inner))) found = &inner;
    });
  }
  return found;
}

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

/// The value, or its counterpart if it is a constant or parameter of an isolated region.
Value* visible_in(Region& region, Value& value, Rewriter& rewriter) {
  const Region* from = value.free_in();
  if (from == nullptr || region.sees(*from)) return &value;
  return rewriter.constant(region, {.type = value.type(),
                                    .attributes = value.attributes(),
                                    .symbol = value.symbol(),
                                    .has_symbol = value.has_symbol()});
}

/// Replaces an op of a body that runs a region of `op` by copies of the ops in the region, also
/// among `values`.
void replace_by_region(Rewriter& rewriter, Op& run, const Op& op, std::span<Value*> values) {
  const Region& region = *region_of_run(run, op);
  RewriteMapping mapping;
  rewriter.set_insertion_point(run);
  for (const Value& argument : region.entry_arguments()) {
    Value& passed = *run.operand(argument.index());
    Value& cast = *cast_to(rewriter, passed, argument.type());
    carry_scales(rewriter, argument, cast);
    mapping.map(argument, cast);
  }
  const Op& end = *region.entry()->terminator();
  for (const Op* inner : region.entry()->ops()) {
    if (inner != &end) rewriter.clone(*inner, mapping);
  }
  std::vector<Value*> passed;
  for (Value& result : run.results()) {
    Value& value = *end.operand(result.index());
    Value* copy = mapping.find(value);
    if (copy == nullptr) copy = visible_in(*run.parent_region(), value, rewriter);
    passed.push_back(cast_to(rewriter, *copy, result.type()));
    carry_scales(rewriter, result, *passed.back());
    std::ranges::replace(values, &result, passed.back());
  }
  rewriter.replace(run, passed);
}

/// The ops from `first` on and before `end` that run regions of the op that the body replaces.
std::vector<Op*> runs_between(Op* first, const Op* end) {
  std::vector<Op*> runs;
  const auto add = [&](Op& op) {
    if (op.is(OpId::kDialectRun)) runs.push_back(&op);
  };
  for (Op* op = first; op != end; op = op->next()) {
    add(*op);
    for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, add);
    }
  }
  return runs;
}

}  // namespace

bool replace_by_body(Rewriter& rewriter, Op& op, Diagnostics& diagnostics) {
  if (const Op* single = single_op_in(op)) {
    diagnostics.error(diag::kNotExecutable, single->span(),
                      fmt::format("'{}' declares or finds out a symbol, so the regions of '{}' "
                                  "cannot be copied",
                                  single->name(), op.name()));
    return false;
  }
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
  for (Op* run : runs_between(first(), &op)) replace_by_region(rewriter, *run, op, *values);
  rewriter.set_insertion_point(op);
  for (const Value& result : op.results()) {
    Value*& value = (*values)[result.index()];
    value = cast_to(rewriter, *value, result.type());
    carry_scales(rewriter, result, *value);
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
