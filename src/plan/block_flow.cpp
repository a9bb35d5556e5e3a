// Lays out the blocks that control can reach from the end of a block, and the values they pass.
#include "plan/block_flow.hpp"

#include <algorithm>
#include <unordered_set>

#include "mir/control_flow.hpp"

namespace mir {

bool is_executable_end(const Op& op) {
  const auto successors = op.extra().successors;
  if (successors.empty()) return op.is(OpId::kCfReturn, OpId::kCfYield, OpId::kCfCondition);
  if (!op.is(OpId::kCfBranch, OpId::kCfCondBranch, OpId::kCfSwitch)) return false;
  const std::size_t operands = op.is(OpId::kCfBranch) ? 0 : 1;
  if (op.plain_operands().size() != operands) return false;
  if (op.is(OpId::kCfCondBranch) && successors.size() != 2) return false;
  return std::ranges::all_of(successors, [&](const OpExtra::Successor& successor) {
    return successor.block != nullptr && successor.block->parent() == op.parent_region() &&
           successor.block->arguments().size() == successor.operand_count;
  });
}

FlowBlocks::FlowBlocks(const Op& end) : begin_(end) {
  std::unordered_set<const Block*> reached;
  std::vector<const Op*> open{&end};
  while (!open.empty()) {
    const Op& op = *open.back();
    open.pop_back();
    if (!is_executable_end(op)) continue;
    for (const OpExtra::Successor& successor : op.extra().successors) {
      if (!reached.insert(successor.block).second) continue;
      if (const Op* next = successor.block->terminator()) open.push_back(next);
    }
  }
  for (const Block* block : end.parent_region()->blocks()) {
    if (!reached.contains(block)) continue;
    numbers_.emplace(block, blocks_.size());
    blocks_.push_back(block);
  }
}

std::vector<const Op*> FlowBlocks::leaving() const {
  std::vector<const Op*> ends;
  for (const Block* block : blocks_) {
    const Op* last = block->terminator();
    if (last != nullptr && leaves_region(*last)) ends.push_back(last);
  }
  return ends;
}

std::optional<std::vector<const Value*>> FlowBlocks::results() const {
  const std::vector<const Op*> ends = leaving();
  const Region& region = *begin_.parent_region();
  const auto stated = region.result_types();
  std::vector<const Value*> results;
  for (std::uint32_t i = 0; i < ends.front()->operand_count(); ++i) {
    const Value* result = ends.front()->operand(i);
    bool differ = false;
    for (const Op* end : ends) {
      if (end->operand_count() != ends.front()->operand_count()) return std::nullopt;
      const Value* const value = end->operand(i);
      differ = differ || value->type() != result->type();
      const bool is_stated = i < stated.size() && value->type() == stated[i];
      if (is_stated) result = value;
    }
    if (differ && (i >= stated.size() || result->type() != stated[i])) return std::nullopt;
    results.push_back(result);
  }
  return results;
}

BlockFlow::End FlowBlocks::end(const Op& op) const {
  BlockFlow::End end{.op = &op};
  for (const OpExtra::Successor& successor : op.extra().successors) {
    end.targets.push_back({.block = numbers_.at(successor.block),
                           .first_operand = successor.first_operand,
                           .operand_count = successor.operand_count});
  }
  return end;
}

std::optional<FlowBlocks::Layout> FlowBlocks::lay_out(
    std::span<const Value* const> captured,
    std::span<const std::vector<const Value*>> reads) const {
  Layout layout{.flow = {.begin = end(begin_)}, .passed = {}};
  layout.flow.parts.resize(blocks_.size());
  layout.passed.resize(blocks_.size());
  std::unordered_map<const Value*, BlockFlow::Slot> slots;
  const auto slot_of = [&](const Value& value) {
    return slots.try_emplace(&value, static_cast<BlockFlow::Slot>(slots.size())).first->second;
  };
  for (const Value* value : captured) slot_of(*value);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    BlockFlow::Part& part = layout.flow.parts[i];
    part.end = end(*blocks_[i]->terminator());
    for (const Value& argument : blocks_[i]->arguments()) part.inputs.push_back(slot_of(argument));
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (const Value* value : reads[i]) {
      if (!slots.contains(value)) {
        const Op* const definition = value->defining_op();
        const auto made =
            definition == nullptr ? numbers_.end() : numbers_.find(definition->block());
        if (made == numbers_.end()) return std::nullopt;
        layout.flow.parts[made->second].outputs.push_back(slot_of(*value));
        layout.passed[made->second].push_back(value);
      }
      layout.flow.parts[i].inputs.push_back(slot_of(*value));
    }
  }
  layout.flow.slot_count = slots.size();
  layout.flow.results = *results();
  return layout;
}

}  // namespace mir
