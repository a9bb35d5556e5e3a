#include <algorithm>
#include <utility>

#include "mir/analysis.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

/// The op of the region that is `op` or holds it; null: it is elsewhere.
const Op* ancestor_in(const Region& region, const Op& op) {
  const Op* at = &op;
  while (at != nullptr && at->parent_region() != &region) at = at->parent_op();
  return at;
}

using Edges = std::unordered_map<const Block*, std::vector<const Block*>>;

Edges predecessors_in(const Region& region) {
  Edges edges;
  for (const Block* from = region.entry(); from != nullptr; from = from->next()) {
    for (const OpExtra::Successor& to : from->successors()) {
      std::vector<const Block*>& list = edges[to.block];
      if (list.empty() || list.back() != from) list.push_back(from);
    }
  }
  return edges;
}

/// Adds the value to what is live at the end of each block from which ways lead to uses of it
/// without passing its definition.
template <class Add>
void follow_uses(const Value& value, const Block& definition, const Edges& edges, const Add& add) {
  std::vector<const Block*> open;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    const Op* user = ancestor_in(*definition.parent(), *use->user());
    if (user != nullptr && user->block() != &definition) open.push_back(user->block());
  }
  while (!open.empty()) {
    const auto before = edges.find(open.back());
    open.pop_back();
    if (before == edges.end()) continue;
    for (const Block* block : before->second) {
      if (add(*block) && block != &definition) open.push_back(block);
    }
  }
}

}  // namespace

Liveness::Liveness(const Region& graph) {
  flow(graph);
}

void Liveness::flow(const Region& region) {
  for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (const Op* op : block->ops()) {
      if (op->has(Trait::kIsolated)) continue;
      for (const Region* in = op->first_region(); in != nullptr; in = in->next()) flow(*in);
    }
  }
  if (region.entry() == region.last_block()) return;
  const Edges edges = predecessors_in(region);
  // Values come in the order of blocks, so the one that was added last is the one at hand.
  const auto follow = [&](const Value& value, const Block& definition) {
    follow_uses(value, definition, edges, [&](const Block& block) {
      std::vector<const Value*>& list = live_out_[&block];
      if (!list.empty() && list.back() == &value) return false;
      list.push_back(&value);
      return true;
    });
  };
  for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (const Value& argument : block->arguments()) follow(argument, *block);
    for (const Op* op : block->ops()) {
      for (const Value& result : op->results()) follow(result, *block);
    }
  }
  for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
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
    const Op* user = ancestor_in(*op.parent_region(), *use->user());
    if (user == nullptr || user->block() != op.block()) continue;
    if (op.is_before_in_block(user)) return true;
  }
  return std::ranges::binary_search(live_out(*op.block()), value.id(), {}, &Value::id);
}

}  // namespace mir
