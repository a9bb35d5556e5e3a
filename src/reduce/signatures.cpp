// Adds and removes inputs and outputs of graphs, and updates their calls.
#include "reduce/signatures.hpp"

#include <algorithm>

#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir::reduce {

namespace {

/// The return that ends a graph of one block; null if there is none.
Op* return_of(const Region& graph) {
  if (graph.empty() || graph.has_several_blocks()) return nullptr;
  Op* last = graph.entry()->terminator();
  return last != nullptr && isa<ReturnOp>(last) ? last : nullptr;
}

std::vector<Value*> operands_of(const Op& op) {
  std::vector<Value*> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value());
  return operands;
}

}  // namespace

Signatures::Signatures(Module& module) : rewriter_(module) {
  for_each_op(module, [&](Op& op) {
    if (isa<CallGraphOp>(&op)) calls_[op.symbol()].push_back(&op);
  });
}

std::vector<Op*> Signatures::calls_of(const Region& graph) const {
  std::vector<Op*> calls;
  const Op& owner = *graph.parent();
  const auto found = calls_.find(owner.symbol());
  if (!isa<SubGraphOp>(&owner) || found == calls_.end()) return calls;
  std::ranges::copy_if(found->second, std::back_inserter(calls),
                       [](const Op* call) { return !call->is_erased(); });
  return calls;
}

Value& Signatures::add_input(Region& graph, const Type* type) {
  const auto known = std::ranges::find(open_, &graph, &decltype(open_)::value_type::first);
  if (known != open_.end()) return *known->second;
  Value& input = *rewriter_.add_argument(*graph.entry(), type);
  rewriter_.set_name(input, rewriter_.module().fresh_name());
  open_.emplace_back(&graph, &input);
  for (Op* call : calls_of(graph)) {
    std::vector<Value*> operands = operands_of(*call);
    operands.push_back(&add_input(graph_around(*call->parent_region()), type));
    rewriter_.set_operands(*call, operands);
  }
  open_.pop_back();
  return input;
}

bool Signatures::add_output(Region& graph, Value& value) {
  Op* end = return_of(graph);
  const auto known = std::ranges::find(open_, &graph, &decltype(open_)::value_type::first);
  if (end == nullptr || known != open_.end()) return false;
  std::vector<Value*> operands = operands_of(*end);
  operands.push_back(&value);
  rewriter_.set_operands(*end, operands);
  std::vector<const Type*> types(graph.result_types().begin(), graph.result_types().end());
  types.push_back(value.type());
  rewriter_.set_result_types(graph, types);
  open_.emplace_back(&graph, &value);
  for (Op* call : calls_of(graph)) {
    Value& result = *rewriter_.add_result(*call, value.type());
    rewriter_.name_results(*call);
    if (call->parent_region() == &graph_around(*call->parent_region())) {
      add_output(graph_around(*call->parent_region()), result);
    }
  }
  open_.pop_back();
  return true;
}

void Signatures::drop_input(Region& graph, std::size_t index) {
  if (graph.entry_arguments()[index].has_uses()) return;
  rewriter_.erase_argument(*graph.entry(), index);
  for (Op* call : calls_of(graph)) {
    std::vector<Value*> operands = operands_of(*call);
    if (index >= operands.size()) continue;
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(index));
    rewriter_.set_operands(*call, operands);
  }
}

void Signatures::drop_output(Region& graph, std::size_t index) {
  Op* end = return_of(graph);
  const std::vector<Op*> calls = calls_of(graph);
  const auto has_result_uses = [&](const Op* call) {
    return index >= call->result_count() || call->result(index)->has_uses();
  };
  if (end == nullptr || index >= end->operand_count() ||
      std::ranges::any_of(calls, has_result_uses)) {
    return;
  }
  const auto at = static_cast<std::ptrdiff_t>(index);
  std::vector<Value*> operands = operands_of(*end);
  operands.erase(operands.begin() + at);
  rewriter_.set_operands(*end, operands);
  std::vector<const Type*> types(graph.result_types().begin(), graph.result_types().end());
  types.erase(types.begin() + at);
  const RegionPorts ports = graph.ports();
  rewriter_.set_result_types(graph, types);
  if (index < ports.outputs.size()) {
    std::vector<ValueName> outputs(ports.outputs.begin(), ports.outputs.end());
    outputs.erase(outputs.begin() + at);
    rewriter_.set_ports(graph, {ports.inputs, outputs});
  }
  for (Op* call : calls) rewriter_.erase_result(*call, index);
}

}  // namespace mir::reduce
