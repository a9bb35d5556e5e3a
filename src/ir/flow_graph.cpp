// Builds successor and predecessor lists of the blocks of a region.
#include "mir/flow_graph.hpp"

#include <numeric>

namespace mir {

ControlFlowGraph::ControlFlowGraph(const Region& region) {
  for (Block* block : region.blocks()) {
    numbers_.emplace(block, size());
    blocks_.push_back(block);
  }
  std::vector<Index> entered_from(size(), size());  // the last block with an edge to each
  std::vector<Index>& ends = predecessors_.ends;
  ends.assign(size() + std::size_t{1}, 0);
  for (Index from = 0; from < size(); ++from) {
    for (const OpExtra::Successor& successor : blocks_[from]->successors()) {
      const auto to = numbers_.find(successor.block);
      if (to == numbers_.end() || entered_from[to->second] == from) continue;
      entered_from[to->second] = from;
      successors_.all.push_back(to->second);
      ++ends[to->second + 1];
    }
    successors_.ends.push_back(static_cast<Index>(successors_.all.size()));
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Index> next(ends.begin(), ends.end() - 1);
  predecessors_.all.resize(successors_.all.size());
  for (Index from = 0; from < size(); ++from) {
    for (const Index to : successors(from)) predecessors_.all[next[to]++] = from;
  }
}

}  // namespace mir
