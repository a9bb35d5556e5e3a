// Unites the targets that must have one type because values flow between them.
#include "passes/types/value_flow.hpp"

#include "mir/control_flow.hpp"
#include "mir/walk.hpp"

namespace mir {

ValueFlow::ValueFlow(const Module& module) {
  add_exits(module.body());
  for_each_op(module, [&](const Op& op) { add_op(op); });
}

std::optional<ValueFlow::Target> ValueFlow::of_operand(const Op& op, std::uint32_t operand) const {
  const auto found = operands_.find({&op, operand});
  return found == operands_.end() ? std::nullopt : std::optional(find(found->second));
}

std::optional<ValueFlow::Target> ValueFlow::of_value(const Value& value) const {
  const auto found = values_.find(&value);
  return found == values_.end() ? std::nullopt : std::optional(find(found->second));
}

std::optional<ValueFlow::Target> ValueFlow::of_result(const Region& region,
                                                      std::uint32_t result) const {
  const auto found = results_.find({&region, result});
  return found == results_.end() ? std::nullopt : std::optional(find(found->second));
}

ValueFlow::Target ValueFlow::find(Target target) const {
  while (parents_[target] != target) {
    target = parents_[target] = parents_[parents_[target]];
  }
  return target;
}

ValueFlow::Target ValueFlow::add() {
  parents_.push_back(size());
  return parents_.back();
}

ValueFlow::Target ValueFlow::node(const Value& value) {
  const auto found = values_.find(&value);
  return found != values_.end() ? found->second : values_.emplace(&value, add()).first->second;
}

ValueFlow::Target ValueFlow::node(const Region& region, std::uint32_t result) {
  const std::pair key{&region, result};
  const auto found = results_.find(key);
  return found != results_.end() ? found->second : results_.emplace(key, add()).first->second;
}

void ValueFlow::unite(Target a, Target b) {
  parents_[find(a)] = find(b);
}

void ValueFlow::pass(const Op& op, std::uint32_t operand, Target to) {
  const auto [at, is_new] = operands_.emplace(std::pair(&op, operand), to);
  if (!is_new) unite(at->second, to);
}

void ValueFlow::add_op(const Op& op) {
  for (const OpExtra::Successor& successor : op.extra().successors) {
    if (successor.block == nullptr) continue;
    for (std::uint32_t i = 0; i < successor.operand_count; ++i) {
      if (i >= successor.block->arguments().size()) break;
      pass(op, successor.first_operand + i, node(successor.block->arguments()[i]));
    }
  }
  if (callee_of(op)) add_call(op);
  if (op.first_region() == nullptr || op.has(Trait::kTemplate)) return;
  if (is_graph(op)) {
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      add_exits(*region);
    }
    return;
  }
  if (const auto edges = region_edges(op)) {
    for (const RegionEdge& edge : *edges) add_edge(op, edge);
    return;
  }
  for (const Value& result : op.results()) unknown_.push_back(&result);
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (const Value& argument : region->entry_arguments()) unknown_.push_back(&argument);
  }
}

void ValueFlow::add_edge(const Op& op, const RegionEdge& edge) {
  const ValueRange targets =
      edge.to == RegionEdge::kOp ? op.results() : op.region(edge.to)->entry_arguments();
  const auto add_from = [&](const Op& source) {
    for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
      const bool exists =
          edge.first_operand + i < source.operand_count() && edge.first_target + i < targets.size();
      if (exists) pass(source, edge.first_operand + i, node(targets[edge.first_target + i]));
    }
  };
  if (edge.from == RegionEdge::kOp) return add_from(op);
  for (const Block* block : op.region(edge.from)->blocks()) {
    const Op* last = block->terminator();
    if (last != nullptr && leaves_region(*last)) add_from(*last);
  }
}

void ValueFlow::add_exits(const Region& region) {
  for (const Block* block : region.blocks()) {
    const Op* last = block->terminator();
    if (last == nullptr || !leaves_region(*last)) continue;
    for (std::uint32_t i = 0; i < last->operand_count(); ++i) pass(*last, i, node(region, i));
  }
}

void ValueFlow::add_call(const Op& op) {
  const Op* graph = called_graph(op);
  const Region* body = graph == nullptr ? nullptr : graph->first_region();
  if (body == nullptr) {
    for (const Value& result : op.results()) unknown_.push_back(&result);
    return;
  }
  const ValueRange inputs = body->entry_arguments();
  for (std::uint32_t i = 0; i < op.operand_count() && i < inputs.size(); ++i) {
    pass(op, i, node(inputs[i]));
  }
  for (const Value& result : op.results()) unite(node(result), node(*body, result.index()));
}

}  // namespace mir
