// Ends of blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

/// Makes and replaces the ends of blocks.
class BlockEnds {
 public:
  struct Target {
    Block* block = nullptr;
    std::vector<Value*> operands;
  };

  explicit BlockEnds(Rewriter& rewriter) : rewriter_(rewriter) {}

  /// The block has no end yet.
  void branch(Block& block, const Target& target);
  void conditional(Block& block, Value& condition, const Target& yes, const Target& no);
  /// An end without successors, such as cf.YieldOp.
  void leave(Block& block, OpId kind, std::span<Value* const> operands);

  /// Erases an end and returns all its operands, those for successors included.
  std::vector<Value*> take_off(Op& end);
  /// Replaces an end without successors by a branch that passes its operands.
  void go_on(Op& end, Block& target);

 private:
  Op& create(Block& block, OpId kind, std::span<Value* const> operands);

  Rewriter& rewriter_;
};

/// The values that a block's end passes to a successor.
std::vector<Value*> passed_to(const Op& end, std::size_t successor);

}  // namespace mir
