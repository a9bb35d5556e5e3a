// Upgrade step: determines the inputs and outputs of a module.
#include <algorithm>
#include <vector>

#include "upgrade/steps/recovery.hpp"

// Module inputs and outputs. `@main () -> ()` of a dump lists neither: inputs are the values that
// top-level ops use and nothing defines, outputs are the results of top-level ops that nothing
// uses.

namespace mir {

namespace {

/// A single number that no call takes: upstream does not print the constants of all types.
bool may_be_constant(const Value& input) {
  const auto* type = input.tensor_type();
  if (type == nullptr || type->rank() != 1 || type->element_count() != 1) return false;
  for (const Use* use = input.first_use(); use != nullptr; use = use->next()) {
    if (isa<CallGraphOp>(use->user())) return false;
  }
  return true;
}

/// True if the module consists of one call. Then upstream traced the results of that call.
bool is_one_call(const Block& body) {
  std::size_t calls = 0;
  for (const Op* op : body.ops()) {
    if (isa<SubGraphOp>(op) || isa<RegisterOp>(op)) continue;
    if (!isa<CallGraphOp>(op)) return false;
    ++calls;
  }
  return calls == 1;
}

void recover_inputs(Recovery& recovery) {
  Module& module = recovery.module;
  Region& body = module.body();
  Block& block = body.only_block();
  std::vector<Value*> inputs;
  for (Value* value : body.free_values()) {
    if (!recovery.is_given(*value)) inputs.push_back(value);
  }
  if (inputs.empty()) return;
  std::vector<const Type*> types;
  for (const Value* value : inputs) {
    types.push_back(value->type());
    if (value->type() == nullptr) {
      return recovery.refuse(*value->first_use()->user(), "type of an input",
                             "no mention states it");
    }
  }
  const std::size_t bound = block.arguments().size();  // of a program, by its bindings
  for (const Type* type : types) recovery.rewriter.add_argument(block, type);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value& argument = block.arguments()[bound + i];
    recovery.rewriter.set_name(argument, inputs[i]->name());
    recovery.rewriter.set_attributes(argument, inputs[i]->attributes());
    recovery.rewriter.replace_all_uses(*inputs[i], argument);
    const bool handed_in = recovery.notes.undefined.contains(argument.name().raw());
    const bool certain = !handed_in && !may_be_constant(argument);
    recovery.note(*module.top(),
                  certain ? LossEntry::Source::kDerived : LossEntry::Source::kAssumed, "input",
                  describe(recovery.context(), argument));
  }
  recovery.rewriter.erase_unused_free_values(body);
}

void recover_outputs(Recovery& recovery) {
  Module& module = recovery.module;
  Region& body = module.body();
  std::vector<Value*> outputs;
  Block& block = body.only_block();
  const bool certain = block.terminator() != nullptr || is_one_call(block);
  if (const Op* last = block.terminator()) {
    for (const Use& use : last->operand_uses()) outputs.push_back(use.value());
  } else {
    for (Op* op : block.ops()) {
      for (Value& result : op->results()) {
        if (!result.has_uses() && !result.has_symbol()) outputs.push_back(&result);
      }
    }
    recovery.rewriter.set_insertion_point_to_end(block);
    recovery.rewriter.create(
        {.name = recovery.context().op_name(OpId::kCfReturn), .operands = outputs});
  }
  std::vector<RegionResult> results;
  for (const Value* value : outputs) {
    if (value->type() == nullptr) {
      recovery.refuse(*block.back(), "type of an output", "no mention states it");
      continue;
    }
    results.push_back({.name = value->name(), .type = value->type()});
    recovery.note(*module.top(),
                  certain ? LossEntry::Source::kDerived : LossEntry::Source::kAssumed, "output",
                  describe(recovery.context(), *value));
  }
  recovery.rewriter.state_results(body, results);
}

/// Values that a graph uses and does not get: only constants and parameters have a meaning there.
void check_graph_values(Recovery& recovery) {
  for (Op* op : recovery.module.body().only_block().ops()) {
    const SubGraphOp graph = dyn_cast<SubGraphOp>(op);
    if (!graph || graph.body() == nullptr) continue;
    for (const Value* value : graph.body()->free_values()) {
      if (recovery.is_given(*value) || !value->has_uses()) continue;
      recovery.refuse(*value->first_use()->user(),
                      fmt::format("operand {}", value->first_use()->index()),
                      "nothing defines it: upstream does not print this constant or input");
    }
  }
}

}  // namespace

void recover_interface(Recovery& recovery) {
  recover_inputs(recovery);
  recover_outputs(recovery);
  check_graph_values(recovery);
}

}  // namespace mir
