// Finds the values that are one tensor because control flow, calls and casts pass them on.
#include "interp/tensor_names.hpp"

#include <algorithm>

#include "dialects/quantisation.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"

namespace mir {

const Attr* stated_quant_spec(const Value& value) {
  const Attr* spec = value.attribute(key::kQuantRecipe);
  return spec != nullptr && spec->kind() == AttrKind::kQuantSpec ? spec : nullptr;
}

TensorNames::TensorNames(const Schedule& schedule) {
  schedule.for_each([&](const Schedule& each) { add(each); });
  for (const auto& [value, at] : passed_) {
    if (names_[node(*value)].empty()) name(*value, stated_quant_spec(*value), at);
  }
}

std::vector<std::vector<TensorName>> TensorNames::by_tensor() const {
  std::vector<std::vector<TensorName>> tensors(names_.size());
  std::vector<bool> used(names_.size());
  for (Node node = 0; node < names_.size(); ++node) {
    const Node tensor = find(node);
    tensors[tensor].insert(tensors[tensor].end(), names_[node].begin(), names_[node].end());
    if (is_used_[node]) used[tensor] = true;
  }
  std::size_t kept = 0;
  for (Node node = 0; node < tensors.size(); ++node) {
    if (used[node] && !tensors[node].empty()) std::swap(tensors[kept++], tensors[node]);
  }
  tensors.resize(kept);
  return tensors;
}

void TensorNames::add(const Schedule& schedule) {
  if (schedule.block() != nullptr) {
    add_block(*schedule.block(), schedule, 0);
  } else {
    add_blocks(schedule.entry(), schedule, 0);
  }
  for (std::uint32_t call = 1; call < schedule.calls().size(); ++call) {
    const Call& each = schedule.calls()[call];
    const Region& body = *each.graph->first_region();
    pass_through(body, {each.op, &schedule, each.caller});
    add_blocks(body, schedule, call);
  }
  for (std::size_t step = 0; step < schedule.steps().size(); ++step) add_step(schedule, step);
}

void TensorNames::add_blocks(const Region& region, const Schedule& schedule, std::uint32_t call) {
  for (const Block* block : region.blocks()) add_block(*block, schedule, call);
}

void TensorNames::add_block(const Block& block, const Schedule& schedule, std::uint32_t call) {
  for (const Op* op : block.ops()) {
    if (is_graph(*op) || op->has(Trait::kTemplate)) continue;
    add_op({op, &schedule, call});
    if (op->is(OpId::kGraphFused)) add_blocks(*op->first_region(), schedule, call);
  }
}

void TensorNames::add_op(const At& at) {
  const Op& op = *at.op;
  if (!known_.insert(&op).second) return;
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    name(*op.operand(i), operand_quant_spec(op, i), at);
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    name(*op.result(i), result_quant_spec(op, i), at);
  }
  for (const OpExtra::Successor& successor : op.extra().successors) {
    if (successor.block == nullptr) continue;
    pass(op, {.first_operand = successor.first_operand, .operand_count = successor.operand_count},
         successor.block->arguments(), at);
  }
  const bool keeps_scale =
      op.is(OpId::kDialectCast) ||
      (op.is(OpId::kLinalgMatchShape) && op.result()->attribute(key::kQuantScale) == nullptr &&
       op.result()->attribute(key::kQuantSource) == nullptr);
  if (keeps_scale) pass(op, {.operand_count = 1}, op.results(), at);
  if (op.first_region() == nullptr) return;
  if (const auto edges = region_edges(op)) {
    for (const RegionEdge& edge : *edges) {
      const ValueRange targets =
          edge.to == RegionEdge::kOp ? op.results() : op.region(edge.to)->entry_arguments();
      if (edge.from == RegionEdge::kOp) {
        pass(op, edge, targets, at);
      } else {
        pass_ends(*op.region(edge.from), edge, targets, at);
      }
    }
  }
}

/// Values with one number in the schedule are one tensor.
void TensorNames::add_step(const Schedule& schedule, std::size_t number) {
  const Step& step = schedule.steps()[number];
  const Op& op = *step.op;
  const At at{&op, &schedule, step.call};
  add_op(at);
  const auto operands = schedule.operands(step);
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    unite(*op.operand(i), *schedule.values()[operands[i]].value);
    is_used_[node(*op.operand(i))] = true;
  }
  for (const Value& result : op.results()) is_used_[node(result)] = true;
  const ControlStep* const control = schedule.control(number);
  if (control == nullptr || !(isa<CallGraphOp>(&op) || op.is(OpId::kDialectRun))) return;
  for (const Schedule& region : control->regions) pass_through(region.entry(), at);
}

/// The op at hand runs the region on its operands.
void TensorNames::pass_through(const Region& region, const At& at) {
  add_op(at);
  const Op& op = *at.op;
  pass(op, {.operand_count = op.operand_count()}, region.entry_arguments(), at);
  pass_ends(region, {.operand_count = op.result_count()}, op.results(), at);
}

void TensorNames::pass_ends(const Region& region, const RegionEdge& edge, ValueRange targets,
                            const At& at) {
  for (const Block* block : region.blocks()) {
    const Op* const last = block->terminator();
    if (last != nullptr && leaves_region(*last)) pass(*last, edge, targets, at);
  }
}

/// Operands of an op become some of the targets.
void TensorNames::pass(const Op& from, const RegionEdge& edge, ValueRange targets, const At& at) {
  for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
    const std::uint32_t source = edge.first_operand + i, target = edge.first_target + i;
    if (source >= from.operand_count() || target >= targets.size()) return;
    passed_.emplace_back(&targets[target], at);
    unite(targets[target], *from.operand(source));
  }
}

TensorNames::Node TensorNames::node(const Value& value) {
  const auto [found, is_new] = nodes_.try_emplace(&value, static_cast<Node>(parents_.size()));
  if (is_new) {
    parents_.push_back(found->second);
    is_used_.push_back(false);
    names_.emplace_back();
  }
  return found->second;
}

TensorNames::Node TensorNames::find(Node node) const {
  while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
  return node;
}

void TensorNames::unite(const Value& a, const Value& b) {
  const Node x = find(node(a)), y = find(node(b));
  parents_[std::max(x, y)] = std::min(x, y);
}

void TensorNames::name(const Value& value, const Attr* spec, const At& at) {
  std::vector<TensorName>& names = names_[node(value)];
  for (const TensorName& known : names) {
    if (known.spec == spec) return;
  }
  const TensorName added{&value, spec, at.op, at.schedule, at.call};
  const bool is_first = spec != nullptr && !names.empty() && names.front().spec == nullptr;
  names.insert(is_first ? names.begin() : names.end(), added);
}

}  // namespace mir
