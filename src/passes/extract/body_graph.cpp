// Moves the body of a module to a graph of its own.
#include "passes/extract/body_graph.hpp"

#include <algorithm>
#include <vector>

#include "mir/control_flow.hpp"
#include "mir/equivalence.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

std::string_view device_of(std::span<Op* const> ops, const IRContext& context) {
  const auto has_device = [](const Op* op) { return bool(op->op_name().device); };
  const auto found = std::ranges::find_if(ops, has_device);
  return found == ops.end() ? "CPU" : context.text((*found)->op_name().device);
}

}  // namespace

bool declares(const Op& op) {
  return isa<SubGraphOp>(&op) || isa<RegisterOp>(&op);
}

void move_declarations(Rewriter& rewriter, std::span<Block* const> blocks) {
  if (blocks.empty()) return;
  Block& entry = *blocks.front()->parent()->entry();
  Op* first = entry.front();
  while (declares(*first) && first->next() != nullptr) first = first->next();
  for (Block* block : blocks) {
    if (block == &entry) continue;
    for (Op* op : block->ops()) {
      if (declares(*op)) rewriter.move_before(*op, *first);
    }
  }
}

void erase_inner_graphs(Rewriter& rewriter, Op& copy) {
  for_each_child(copy, [&](Op& op) {
    if (is_graph(op)) rewriter.erase(op);
  });
}

Op& move_body_to_graph(Rewriter& rewriter, std::string_view name) {
  Module& module = rewriter.module();
  Region& body = module.body();
  Block& entry = *body.entry();
  const std::vector<Block*> blocks(body.blocks().begin(), body.blocks().end());
  move_declarations(rewriter, blocks);
  std::vector<Op*> ops;
  for (Op* op : entry.ops()) {
    if (!declares(*op)) ops.push_back(op);
  }
  std::vector<const Type*> types;
  for (const Value& input : entry.arguments()) types.push_back(input.type());
  const std::vector<const Type*> results(body.result_types().begin(), body.result_types().end());

  Diagnostics ignored;
  Builder builder(module, ignored);
  if (!ops.empty()) builder.set_insertion_point(*ops.front());
  Op& graph = *builder.subgraph(name, types, device_of(ops, module.context()));
  Region& region = *graph.first_region();
  Block& first = region.only_block();
  for (Value& input : entry.arguments()) {
    Value& argument = first.arguments()[input.index()];
    rewriter.set_name(argument, input.name());
    rewriter.set_attributes(argument, input.attributes());
    rewriter.replace_all_uses(input, argument);
  }
  for (Op* op : ops) rewriter.move_to_end(*op, first);
  for (Block* block : blocks) {
    if (block != &entry) rewriter.move_block(*block, region);
  }
  rewriter.set_result_types(region, results);
  rewriter.set_ports(region, body.ports());
  for (Op* op : entry.ops()) {
    if (!isa<RegisterOp>(op) || !op->result()->has_uses()) continue;
    Value& parameter = *op->result();
    rewriter.replace_all_uses(parameter, *rewriter.constant(region, *constant_of(parameter)));
  }
  rewriter.erase_unused_free_values(body);
  return graph;
}

}  // namespace mir
