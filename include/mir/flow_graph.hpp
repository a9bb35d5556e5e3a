// The control-flow graph of a region.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// The blocks of one region by number, in text order, and the edges along their successors. Edits
/// of blocks or successors make it stale. Built in time linear in the number of blocks and edges.
class ControlFlowGraph {
 public:
  using Index = std::uint32_t;

  explicit ControlFlowGraph(const Region& region);

  /// The entry first; empty for a region without blocks.
  std::span<Block* const> blocks() const { return blocks_; }
  Index size() const { return static_cast<Index>(blocks_.size()); }
  /// The block must belong to the region.
  Index index_of(const Block& block) const { return numbers_.at(&block); }
  /// Each once, in the order of the block's successors. Those that are no blocks of the region are
  /// left out.
  std::span<const Index> successors(Index block) const { return successors_.of(block); }
  /// Each once, in text order.
  std::span<const Index> predecessors(Index block) const { return predecessors_.of(block); }

 private:
  /// A list of numbers for each block, one after the other.
  struct Lists {
    std::span<const Index> of(Index block) const {
      return std::span(all).subspan(ends[block], ends[block + 1] - ends[block]);
    }
    std::vector<Index> ends{0};
    std::vector<Index> all;
  };

  std::vector<Block*> blocks_;
  std::unordered_map<const Block*, Index> numbers_;
  Lists successors_, predecessors_;
};

}  // namespace mir
