// Control flow between the blocks of a region, as a plan runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// The blocks that control may reach from the end of a block, in text order. The block itself is
/// included only if control can return to it. Values that blocks pass to each other have slots,
/// numbered from 0: first the captured values, then those of the blocks.
struct BlockFlow {
  using Slot = std::uint32_t;

  struct Target {
    std::size_t block = 0;
    std::uint32_t first_operand = 0;  ///< of the end: what the arguments of the block become
    std::uint32_t operand_count = 0;
  };
  /// A terminator; it leaves the region if it has no targets.
  struct End {
    const Op* op = nullptr;
    std::vector<Target> targets = {};
  };
  /// A block. The inputs of its schedule are its arguments, then the values that it reads of other
  /// blocks and from around; the outputs are the operands of its end, then the values that other
  /// blocks read.
  struct Part {
    std::vector<Slot> inputs;
    std::vector<Slot> outputs;  ///< after the operands of the end
    End end;
  };

  End begin;  ///< the end of the block before
  std::vector<Part> parts = {};
  std::size_t slot_count = 0;
  std::vector<const Value*> results = {};  ///< values that an end that leaves the region passes
};

/// True if an op ends a block so that a plan knows where control goes: it leaves the region, or is
/// a branch of the cf dialect to blocks of its region that take what it passes.
bool is_executable_end(const Op& op);

/// Finds the blocks that follow the end of a block, and makes the flow of them.
class FlowBlocks {
 public:
  /// Follows the ends that are executable.
  explicit FlowBlocks(const Op& end);

  /// In text order.
  std::span<const Block* const> all() const { return blocks_; }
  /// The ends that leave the region, in text order.
  std::vector<const Op*> leaving() const;
  /// Returns values with the types of the results: for each, one that is passed and has the type
  /// that the region states, or any one if all have the same type. No value if there is no such
  /// value, or if the ends pass different numbers of values. At least one end must leave the
  /// region.
  std::optional<std::vector<const Value*>> results() const;

  struct Layout {
    BlockFlow flow;
    std::vector<std::vector<const Value*>> passed;  ///< by block: what other blocks read
  };
  /// `captured`: the values from around all blocks; `reads`: those from around each block. All ends
  /// are executable, and results() has a value. No value if a block reads what no block makes.
  std::optional<Layout> lay_out(std::span<const Value* const> captured,
                                std::span<const std::vector<const Value*>> reads) const;

 private:
  BlockFlow::End end(const Op& op) const;

  const Op& begin_;
  std::vector<const Block*> blocks_;
  std::unordered_map<const Block*, std::size_t> numbers_;
};

}  // namespace mir
