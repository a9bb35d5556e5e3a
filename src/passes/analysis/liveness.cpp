// Computes which values are live at the end of each block.
#include <algorithm>
#include <utility>

#include "mir/analysis.hpp"
#include "mir/flow_graph.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

/// Adds the value to what is live at the end of each block from which ways lead to uses of it
/// without passing its definition.
template <class Add>
void follow_uses(const Value& value, const Block& definition, const ControlFlowGraph& flow,
                 const Add& add) {
  std::vector<const Block*> open;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    const Op* user = use->user()->ancestor_in(*definition.parent());
    if (user != nullptr && user->block() != &definition) open.push_back(user->block());
  }
  while (!open.empty()) {
    const auto before = flow.predecessors(flow.index_of(*open.back()));
    open.pop_back();
    for (const ControlFlowGraph::Index index : before) {
      const Block& block = *flow.blocks()[index];
      if (add(block) && &block != &definition) open.push_back(&block);
    }
  }
}

}  // namespace

Liveness::Liveness(const Region& graph) {
  for_each_region(graph, [&](const Region& region) {
    if (region.has_several_blocks()) flow(region);
  });
}

/// In a region of several blocks, without those nested in it.
void Liveness::flow(const Region& region) {
  const ControlFlowGraph graph(region);
  // Values come in the order of blocks, so the one that was added last is the one at hand.
  const auto follow = [&](const Value& value, const Block& definition) {
    follow_uses(value, definition, graph, [&](const Block& block) {
      std::vector<const Value*>& list = live_out_[&block];
      if (!list.empty() && list.back() == &value) return false;
      list.push_back(&value);
      return true;
    });
  };
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) follow(argument, *block);
    for (const Op* op : block->ops()) {
      for (const Value& result : op->results()) follow(result, *block);
    }
  }
  for (const Block* block : region.blocks()) {
    const auto list = live_out_.find(block);
    if (list != live_out_.end()) std::ranges::sort(list->second, {}, &Value::id);
  }
}

std::span<const Value* const> Liveness::live_out(const Block& block) const {
  const auto found = live_out_.find(&block);
  return found == live_out_.end() ? std::span<const Value* const>() : found->second;
}

bool Liveness::is_live_after(const Value& value, const Op& op) const {
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    const Op* user = use->user()->ancestor_in(*op.parent_region());
    if (user == nullptr || user->block() != op.block()) continue;
    if (op.is_before_in_block(user)) return true;
  }
  return std::ranges::binary_search(live_out(*op.block()), value.id(), {}, &Value::id);
}

}  // namespace mir
