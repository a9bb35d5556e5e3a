// Replaces branches on constants, then removes and merges blocks.
#include "passes/control/constant_branches.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/joined_extents.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "passes/control/block_ends.hpp"
#include "passes/control/constant_loop.hpp"
#include "passes/extract/body_graph.hpp"

namespace mir {

namespace {

/// The successor that a branch always goes to; no value if that depends on the run.
std::optional<std::size_t> only_way(const Op& end) {
  const std::size_t ways = end.extra().successors.size();
  const bool chooses = end.is(OpId::kCfCondBranch, OpId::kCfSwitch);
  const auto index = chooses ? constant_element(*end.operand(0)) : std::nullopt;
  if (!index) return std::nullopt;
  if (end.is(OpId::kCfCondBranch)) {
    if (ways != 2) return std::nullopt;
    return *index != 0 ? 0 : 1;
  }
  const Attr* const cases = end.attribute(key::kCases);
  if (cases == nullptr || cases->elements().size() + 1 != ways) return std::nullopt;
  const auto found = std::ranges::find_if(cases->elements(), [&](const Attr* each) {
    return each->kind() == AttrKind::kInt && each->integer() == *index;
  });
  if (found == cases->elements().end()) return 0;
  return static_cast<std::size_t>(found - cases->elements().begin()) + 1;
}

std::uint64_t replace_branches(BlockEnds& ends, Region& region) {
  std::uint64_t count = 0;
  for (Block* block : region.blocks()) {
    Op* const end = block->terminator();
    const auto way = end == nullptr ? std::nullopt : only_way(*end);
    if (!way) continue;
    const BlockEnds::Target target{end->extra().successors[*way].block, passed_to(*end, *way)};
    if (target.block == nullptr) continue;
    ends.take_off(*end);
    ends.branch(*block, target);
    ++count;
  }
  return count;
}

/// The blocks that control can reach, where constants decide by these.
std::unordered_set<const Block*> reached_blocks(const Region& region) {
  std::unordered_set<const Block*> reached{region.entry()};
  std::vector<const Block*> open{region.entry()};
  while (!open.empty()) {
    const Block& block = *open.back();
    open.pop_back();
    const Op* const end = block.terminator();
    const auto way = end == nullptr ? std::nullopt : only_way(*end);
    for (std::size_t i = 0; i < block.successors().size(); ++i) {
      const Block* const next = block.successors()[i].block;
      const bool is_taken = !way || *way == i;
      if (is_taken && next != nullptr && reached.insert(next).second) open.push_back(next);
    }
  }
  return reached;
}

/// Graphs that are declared in the blocks stay. Only blocks that are removed, too, read values of
/// the blocks.
void remove_blocks(Rewriter& rewriter, BlockEnds& ends, Region& region,
                   const std::vector<Block*>& blocks) {
  const auto drop = [&](Value& value) {
    if (!value.has_uses()) return;
    Value& nothing = *rewriter.create_free_value(region, value.type(), {});
    rewriter.replace_all_uses(value, nothing);
  };
  for (Block* block : blocks) {
    if (Op* const end = block->terminator()) ends.take_off(*end);
  }
  move_declarations(rewriter, blocks);
  for (Block* block : blocks) {
    for (Value& argument : block->arguments()) drop(argument);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) drop(result);
    }
  }
  for (Block* block : blocks) rewriter.erase_block(*block);
  rewriter.erase_unused_free_values(region);
}

/// True if the block after a branch has symbols for extents that the branch passes.
bool joins_extents(const Op& branch) {
  return !JoinedExtents::at_block(branch, branch.extra().successors.front()).empty();
}

/// A call may append to caches, whose lengths have symbols.
bool calls_graphs(const Block& block) {
  return std::ranges::any_of(block.ops(), [](const Op* op) { return callee_of(*op).has_value(); });
}

/// Each time that one of two blocks runs, its symbols get values of their own.
std::uint64_t merge_blocks(Rewriter& rewriter, BlockEnds& ends, Region& region) {
  std::unordered_map<const Block*, std::size_t> edges;
  std::unordered_set<const Block*> binding;
  for (const Block* block : region.blocks()) {
    for (const auto& successor : block->successors()) ++edges[successor.block];
    if (binds_symbols(*block) || calls_graphs(*block)) binding.insert(block);
  }
  std::unordered_set<const Block*> gone;
  std::uint64_t count = 0;
  const std::vector<Block*> blocks(region.blocks().begin(), region.blocks().end());
  for (Block* block : blocks) {
    if (gone.contains(block)) continue;
    while (true) {
      Op* const end = block->terminator();
      Block* const next = end != nullptr && end->is(OpId::kCfBranch)
                              ? end->extra().successors.front().block
                              : nullptr;
      if (next == nullptr || next == block || next == region.entry() || edges[next] != 1) break;
      if (binding.contains(next) && !binding.insert(block).second) break;
      const std::vector<Value*> passed = passed_to(*end, 0);
      if (passed.size() != next->arguments().size() || joins_extents(*end)) break;
      ends.take_off(*end);
      rewriter.merge_blocks(*next, *block, passed);
      gone.insert(next);
      ++count;
    }
  }
  return count;
}

}  // namespace

BlockCleanup take_constant_branches(Rewriter& rewriter, Region& region) {
  const auto reached = reached_blocks(region);
  const bool has_exit = std::ranges::any_of(reached, [](const Block* block) {
    const Op* const end = block->terminator();
    return end != nullptr && leaves_region(*end);
  });
  if (!has_exit) return {};
  BlockEnds ends(rewriter);
  BlockCleanup done{.branches_taken = replace_branches(ends, region)};
  if (done.branches_taken == 0) return done;
  std::vector<Block*> others;
  for (Block* block : region.blocks()) {
    if (!reached.contains(block)) others.push_back(block);
  }
  if (!others.empty()) remove_blocks(rewriter, ends, region, others);
  done.blocks_removed = others.size();
  done.blocks_merged = merge_blocks(rewriter, ends, region);
  return done;
}

}  // namespace mir
