// Pairs ops, blocks and values of two modules by keys of decreasing strictness.
#include "diff/pairing.hpp"

#include <algorithm>
#include <string>

#include "diff/equal_graphs.hpp"
#include "diff/op_alignment.hpp"
#include "diff/op_text.hpp"
#include "diff/same_ids.hpp"
#include "mir/context.hpp"
#include "mir/ops.hpp"
#include "support/alignment.hpp"

namespace mir {

namespace {

/// Calls `pair` for blocks that belong together: those of one `key(block, 0)`; between these those
/// of one `key(block, 1)`, and so on.
void align_blocks(std::span<const Block* const> before, std::span<const Block* const> after,
                  int levels, int level, const auto& key, const auto& pair) {
  if (before.empty() || after.empty() || level == levels) return;
  std::unordered_map<std::string, std::uint32_t> known;
  const auto ids_of = [&](std::span<const Block* const> blocks) {
    std::vector<std::uint32_t> ids;
    for (const Block* block : blocks) {
      const auto next = static_cast<std::uint32_t>(known.size());
      ids.push_back(known.emplace(key(*block, level), next).first->second);
    }
    return ids;
  };
  const auto from = ids_of(before), to = ids_of(after);
  std::size_t i = 0, j = 0;
  for (const AlignedPair& each : align(from, to)) {
    const auto x = static_cast<std::size_t>(each.before), y = static_cast<std::size_t>(each.after);
    align_blocks(before.subspan(i, x - i), after.subspan(j, y - j), levels, level + 1, key, pair);
    pair(*before[x], *after[y]);
    i = x + 1, j = y + 1;
  }
  align_blocks(before.subspan(i), after.subspan(j), levels, level + 1, key, pair);
}

constexpr int kBlockLevels = 3;

std::string block_key(const Block& block, int level) {
  std::string key;
  if (level == kBlockLevels - 1) return key;
  for (const Op* op : block.ops()) key += (level == 0 ? content_key(*op) : name_key(*op)) + "\n";
  return key;
}

std::vector<const Block*> blocks_of(const Region& region) {
  std::vector<const Block*> blocks;
  for (const Block* each : region.blocks()) {
    blocks.push_back(each);
  }
  return blocks;
}

/// True if a free value has a symbol that is not an id.
bool is_named(const Value& value) {
  if (!value.has_symbol()) return false;
  const Module& module = value.free_in()->parent()->module();
  const std::string_view symbol = module.context().text(value.symbol());
  return module.is_portable() || without_id(symbol) == symbol;
}

}  // namespace

bool is_declared(const Op& op) {
  return isa<SubGraphOp>(&op) || isa<FragmentOp>(&op);
}

Pairing::Pairing(const Module& before, const Module& after, bool inputs_by_port)
    : inputs_by_port_(inputs_by_port),
      ops_(before.op_id_end()),
      ops_back_(after.op_id_end()),
      values_(before.value_id_end()),
      values_back_(after.value_id_end()) {
  ops(*before.top(), *after.top());
}

void Pairing::ops(const Op& a, const Op& b) {
  ops_[a.id()] = &b;
  ops_back_[b.id()] = &a;
  values(a.results(), b.results());
  if (!is_declared(a) || !equal_graphs(a, b)) regions(a, b);
}

/// Pairs the parts of two graphs if these are equal.
bool Pairing::equal_graphs(const Op& a, const Op& b) {
  EqualGraphs graphs(values_);
  if (!graphs.compare(a, b)) return false;
  for (const auto& [one, other] : graphs.ops()) {
    ops_[one->id()] = other;
    ops_back_[other->id()] = one;
  }
  blocks_.insert(graphs.blocks().begin(), graphs.blocks().end());
  for (const auto& [one, other] : graphs.values()) values_back_[other->id()] = one;
  return true;
}

void Pairing::regions(const Op& a, const Op& b) {
  const Region* other = b.first_region();
  for (const Region* one = a.first_region(); one != nullptr && other != nullptr;
       one = one->next(), other = other->next()) {
    free_values(*one, *other);
    const Blocks from = blocks_of(*one), to = blocks_of(*other);
    if (from.size() == 1 && to.size() == 1) {
      blocks(*from.front(), *to.front());
      continue;
    }
    align_blocks(from, to, kBlockLevels, 0, block_key,
                 [&](const Block& x, const Block& y) { blocks(x, y); });
  }
}

/// By their symbols, the k-th of one with the k-th.
void Pairing::free_values(const Region& a, const Region& b) {
  std::unordered_map<Symbol, std::vector<const Value*>> named;
  const auto others = b.free_values();
  for (auto value = others.rbegin(); value != others.rend(); ++value) {
    if (is_named(**value)) named[(*value)->symbol()].push_back(*value);
  }
  for (const Value* value : a.free_values()) {
    if (!is_named(*value)) continue;
    auto& alike = named[value->symbol()];
    if (alike.empty()) continue;
    pair(*value, *alike.back());
    alike.pop_back();
  }
}

void Pairing::blocks(const Block& a, const Block& b) {
  blocks_.emplace(&a, &b);
  if (inputs_by_port_ && a.previous() == nullptr) inputs(*a.parent(), *b.parent());
  values(a.arguments(), b.arguments());
  Ops from, to, declared, redeclared;
  for (const Op* op : a.ops()) (is_declared(*op) ? declared : from).push_back(op);
  for (const Op* op : b.ops()) (is_declared(*op) ? redeclared : to).push_back(op);
  graphs(declared, redeclared);
  for (const auto& [x, y] : align_ops(from, to, {values_, values_back_})) ops(*x, *y);
}

void Pairing::graphs(Ops& before, Ops& after) {
  graphs_by(before, after, [](const Op& op) {
    return std::string(op.name()) + " " + std::string(op.module().context().text(op.symbol()));
  });
  graphs_by(before, after, structure_key);
}

/// Pairs graphs of one key, the k-th with the k-th. Others stay in the lists.
void Pairing::graphs_by(Ops& before, Ops& after, const std::function<std::string(const Op&)>& key) {
  if (before.empty() || after.empty()) return;
  std::unordered_map<std::string, Ops> by_key;
  for (auto op = after.rbegin(); op != after.rend(); ++op) by_key[key(**op)].push_back(*op);
  std::erase_if(before, [&](const Op* op) {
    Ops& others = by_key[key(*op)];
    if (others.empty()) return false;
    ops(*op, *others.back());
    others.pop_back();
    return true;
  });
  std::erase_if(after, [&](const Op* op) { return ops_back_[op->id()] != nullptr; });
}

/// Pairs values that have no partner yet, in their order.
void Pairing::values(ValueRange a, ValueRange b) {
  std::size_t next = 0;
  for (const Value& value : a) {
    if (values_[value.id()] != nullptr) continue;
    while (next < b.size() && values_back_[b[next].id()] != nullptr) ++next;
    if (next == b.size()) return;
    pair(value, b[next++]);
  }
}

/// Pairs the inputs of modules alone: calls state the inputs of graphs by position.
void Pairing::inputs(const Region& a, const Region& b) {
  if (!a.parent()->is(OpId::kBuiltinModule)) return;
  std::unordered_map<std::uint32_t, const Value*> others;
  for (const Value& input : b.entry_arguments()) {
    others.emplace(b.input_port(input.index()).raw(), &input);
  }
  for (const Value& input : a.entry_arguments()) {
    const auto found = others.find(a.input_port(input.index()).raw());
    if (found != others.end()) pair(input, *found->second);
  }
}

void Pairing::pair(const Value& a, const Value& b) {
  if (values_[a.id()] == nullptr) values_[a.id()] = &b;
  if (values_back_[b.id()] == nullptr) values_back_[b.id()] = &a;
}

bool Pairing::meet(const Value& before, const Value& after) {
  if (!before.is_free() || !after.is_free() || is_named(before) || is_named(after)) return false;
  if (values_[before.id()] != nullptr || values_back_[after.id()] != nullptr) return false;
  const Region &one = *before.free_in(), &other = *after.free_in();
  const bool regions = ops_[one.parent()->id()] == other.parent() && one.index() == other.index();
  if (regions) pair(before, after);
  return regions;
}

}  // namespace mir
