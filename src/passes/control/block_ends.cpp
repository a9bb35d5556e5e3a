// Creates and replaces the terminators of blocks.
#include "passes/control/block_ends.hpp"

#include <array>

namespace mir {

Op& BlockEnds::create(Block& block, OpId kind, std::span<Value* const> operands) {
  rewriter_.set_insertion_point_to_end(block);
  return *rewriter_.create({.name = rewriter_.context().op_name(kind), .operands = operands});
}

void BlockEnds::branch(Block& block, const Target& target) {
  const SuccessorSpec successor{.block = target.block, .operands = target.operands};
  rewriter_.set_successors(create(block, OpId::kCfBranch, {}), {&successor, 1});
}

void BlockEnds::conditional(Block& block, Value& condition, const Target& yes, const Target& no) {
  Value* const operand = &condition;
  const std::array<SuccessorSpec, 2> successors{
      SuccessorSpec{.block = yes.block, .operands = yes.operands},
      SuccessorSpec{.block = no.block, .operands = no.operands}};
  rewriter_.set_successors(create(block, OpId::kCfCondBranch, {&operand, 1}), successors);
}

void BlockEnds::leave(Block& block, OpId kind, std::span<Value* const> operands) {
  create(block, kind, operands);
}

std::vector<Value*> BlockEnds::take_off(Op& end) {
  std::vector<Value*> operands;
  for (const Use& use : end.operand_uses()) operands.push_back(use.value());
  rewriter_.erase(end);
  return operands;
}

void BlockEnds::go_on(Op& end, Block& target) {
  Block& block = *end.block();
  branch(block, {&target, take_off(end)});
}

std::vector<Value*> passed_to(const Op& end, std::size_t successor) {
  const OpExtra::Successor& to = end.extra().successors[successor];
  std::vector<Value*> passed;
  for (const Use& use : end.operand_uses().subspan(to.first_operand, to.operand_count)) {
    passed.push_back(use.value());
  }
  return passed;
}

}  // namespace mir
