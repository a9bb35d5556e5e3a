// Finds the ops between which the storages of values live.
#include "passes/estimate/storage_life.hpp"

#include "dialects/parameters.hpp"
#include "ir/extent_walk.hpp"
#include "mir/control_flow.hpp"

namespace mir {

namespace {

/// True if a value shares the bytes of the first operand of its op.
bool shares_bytes(const Value& value) {
  return value.is_result() && value.defining_op()->has(Trait::kSameBytes) &&
         value.defining_op()->operand_count() > 0;
}

/// The block that defines a value; null for a free one.
const Block* defining_block(const Value& value) {
  return value.is_result() ? value.defining_op()->block() : value.argument_of();
}

bool is_entry_of_graph(const Block& block) {
  const Region& region = *block.parent();
  return region.entry() == &block && region.parent()->has(Trait::kIsolated);
}

template <class Key>
std::span<const Value* const> found_in(
    const std::unordered_map<const Key*, std::vector<const Value*>>& lists, const Key& key) {
  const auto found = lists.find(&key);
  if (found == lists.end()) return {};
  return found->second;
}

}  // namespace

StorageLife::StorageLife(const Region& graph) {
  visit(graph);
}

bool StorageLife::is_passed_over(const Op& op) {
  return op.has(Trait::kSymbol) || op.has(Trait::kTemplate) || only_shows_memory(op);
}

bool StorageLife::begin_after(const Op& op) {
  const bool runs_regions = op.first_region() != nullptr && !op.is(OpId::kGraphFused);
  return runs_regions || callee_of(op) || finds_out_symbols(op);
}

bool StorageLife::has_storage(const Value& value) const {
  if (value.is_free() || shares_bytes(value)) return false;
  if (!value.is_result()) return !is_entry_of_graph(*value.argument_of());
  const Op& op = *value.defining_op();
  return !is_passed_over(op) && !op.is(OpId::kLinalgParam) && !cache_of(op);
}

const Value& StorageLife::storage_of(const Value& value) {
  if (!shares_bytes(value)) return value;
  const Value* at = &value;
  while (shares_bytes(*at) && !storages_.contains(at)) at = at->defining_op()->operand(0);
  const Value& storage = shares_bytes(*at) ? *storages_.at(at) : *at;
  storages_.emplace(&value, &storage);
  return storage;
}

std::span<const Value* const> StorageLife::beginning_with(const Block& block) const {
  return found_in(beginning_, block);
}
std::span<const Value* const> StorageLife::unused_in(const Block& block) const {
  return found_in(unused_, block);
}
std::span<const Value* const> StorageLife::ending_before(const Op& op) const {
  return found_in(before_, op);
}
std::span<const Value* const> StorageLife::ending_after(const Op& op) const {
  return found_in(after_, op);
}

std::vector<const Value*> StorageLife::made_by(const Op& op) const {
  List made;
  for (const Value& result : op.results()) {
    if (has_storage(result) && !kept_.contains(&result)) made.push_back(&result);
  }
  return made;
}

/// Visits the storages that an op reads, those that its regions read from around it included.
template <class Visit>
void StorageLife::for_each_use(const Op& op, const Visit& visit) {
  for (const Use& use : op.operand_uses()) visit(storage_of(*use.value()));
  if (op.first_region() == nullptr) return;
  for (const Value* storage : captured_by(op)) visit(*storage);
}

/// The storages from around an op that its regions read, each once. Free values are not among
/// them.
const StorageLife::List& StorageLife::captured_by(const Op& op) {
  const auto [found, is_new] = captured_.try_emplace(&op);
  List& captured = found->second;
  if (!is_new || op.has(Trait::kIsolated) || op.has(Trait::kTemplate)) return captured;
  std::unordered_set<const Value*> seen;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (const Block* block : region->blocks()) {
      for (const Op* inner : block->ops()) {
        if (is_passed_over(*inner)) continue;
        for_each_use(*inner, [&](const Value& storage) {
          const Block* definition = defining_block(storage);
          const bool is_inside = definition == nullptr || definition->parent()->parent() == &op;
          if (!is_inside && seen.insert(&storage).second) captured.push_back(&storage);
        });
      }
    }
  }
  return captured;
}

StorageLife::LastUses StorageLife::last_uses(const Block& block) {
  LastUses last;
  for (const Op* op : block.ops()) {
    if (is_passed_over(*op)) continue;
    for_each_use(*op, [&](const Value& storage) { last[&storage] = op; });
  }
  return last;
}

void StorageLife::visit(const Region& region) {
  std::vector<LastUses> uses;
  for (const Block* block : region.blocks()) uses.push_back(last_uses(*block));
  if (region.has_several_blocks()) {
    List list = kept_in(region, uses);
    kept_.insert(list.begin(), list.end());
    if (!list.empty()) beginning_[region.entry()] = std::move(list);
  }
  auto last = uses.begin();
  for (const Block* block : region.blocks()) visit(*block, *last++);
}

StorageLife::List StorageLife::kept_in(const Region& region, std::span<const LastUses> uses) {
  List kept;
  std::unordered_set<const Value*> crossing;
  auto used = uses.begin();
  for (const Block* block : region.blocks()) {
    for (const auto& [storage, op] : *used) {
      const Block* definition = defining_block(*storage);
      if (definition != nullptr && definition != block && definition->parent() == &region) {
        crossing.insert(storage);
      }
    }
    ++used;
  }
  for (const Block* block : region.blocks()) {
    for (const Value& each : block->arguments()) {
      if (has_storage(each)) kept.push_back(&each);
    }
    for (const Op* op : block->ops()) {
      for (const Value* each : made_by(*op)) {
        if (crossing.contains(each)) kept.push_back(each);
      }
    }
  }
  return kept;
}

StorageLife::List StorageLife::kept_ending_before(const Op& op) {
  const Region& region = *op.block()->parent();
  if (!region.has_several_blocks() || !leaves_region(op)) return {};
  std::unordered_set<const Value*> passed;
  for_each_use(op, [&](const Value& storage) { passed.insert(&storage); });
  List ending;
  for (const Value* each : beginning_with(*region.entry())) {
    if (!passed.contains(each)) ending.push_back(each);
  }
  return ending;
}

void StorageLife::visit(const Block& block, const LastUses& last) {
  if (!block.parent()->has_several_blocks()) {
    for (const Value& each : block.arguments()) {
      if (!has_storage(each)) continue;
      beginning_[&block].push_back(&each);
      if (!last.contains(&each)) unused_[&block].push_back(&each);
    }
  }
  for (const Op* op : block.ops()) {
    if (is_passed_over(*op)) continue;
    std::unordered_set<const Value*> ended;
    for_each_use(*op, [&](const Value& storage) {
      const bool is_own = defining_block(storage) == &block && has_storage(storage);
      const bool ends = is_own && last.at(&storage) == op && !kept_.contains(&storage);
      if (!ends || leaves_region(*op) || !ended.insert(&storage).second) return;
      (op->has(Trait::kTerminator) ? before_ : after_)[op].push_back(&storage);
    });
    for (const Value* made : made_by(*op)) {
      if (!last.contains(made)) after_[op].push_back(made);
    }
    if (op->has(Trait::kIsolated) || op->is(OpId::kGraphFused)) continue;
    for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
      visit(*region);
    }
  }
}

}  // namespace mir
