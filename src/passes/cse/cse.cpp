// Merges ops that compute the same value, and constants and parameters that are the same.
#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dialects/quantisation.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "mir/equivalence.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/cse/operation_hash.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Equal for equivalent ops.
std::size_t hash_of(const Op& op) {
  std::size_t hash = hash_of_operation(op);
  for (const Use& use : op.operand_uses()) {
    hash = combined_hash(hash, std::hash<const void*>()(use.value()));
  }
  for (const Value& result : op.results()) {
    hash = combined_hash(hash, std::hash<const void*>()(result.type()));
  }
  return hash;
}

/// Equal for free values that are the same.
std::size_t hash_of(const Value& value) {
  std::size_t hash =
      combined_hash(std::hash<const void*>()(value.type()), std::hash<Symbol>()(value.symbol()));
  for (const NamedAttr& each : value.attributes()) {
    hash = combined_hash(hash, std::hash<const void*>()(each.value));
  }
  return hash;
}

bool hold_codes(const Op& op) {
  return std::ranges::any_of(op.results(), [](const Value& each) { return holds_codes(each); });
}

bool are_same(const Value& a, const Value& b) {
  return a.type() == b.type() && a.has_symbol() == b.has_symbol() && a.symbol() == b.symbol() &&
         std::ranges::equal(a.attributes(), b.attributes());
}

struct KnownOp {
  Op* op = nullptr;
  bool has_codes = false;  ///< before others were merged into it
  /// The region that owns symbols of the op, as far as it is not the graph: the same name is
  /// another symbol elsewhere.
  const Region* scope = nullptr;
  std::size_t hash = 0;
};

/// Ops by their hash. The last ones are forgotten first.
class KnownOps {
 public:
  std::size_t size() const { return ops_.size(); }

  /// The op of this hash for which `is_same(KnownOp)` is true; null if there is none.
  template <class IsSame>
  Op* find(std::size_t hash, const IsSame& is_same) const {
    const auto fits = [&](const KnownOp& known) { return known.hash == hash && is_same(known); };
    if (heads_.empty()) {
      const auto found = std::ranges::find_if(ops_, fits, &Entry::known);
      return found == ops_.end() ? nullptr : found->known.op;
    }
    for (std::uint32_t at = heads_[slot(hash)]; at != kNone; at = ops_[at].next) {
      if (fits(ops_[at].known)) return ops_[at].known.op;
    }
    return nullptr;
  }
  void add(const KnownOp& known) {
    if (ops_.size() == ops_.capacity()) grow();
    ops_.push_back({known});
    if (!heads_.empty()) enter(ops_.size() - 1);
  }
  /// Forgets all but the first `count`.
  void forget(std::size_t count) {
    for (; ops_.size() > count; ops_.pop_back()) {
      if (!heads_.empty()) heads_[slot(ops_.back().known.hash)] = ops_.back().next;
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kMostInTurn = 16;  // are compared one by one

  struct Entry {
    KnownOp known;
    std::uint32_t next = kNone;  // of the same slot
  };

  std::size_t slot(std::size_t hash) const {
    return (hash * 0x9e3779b97f4a7c15ULL >> 32) & (heads_.size() - 1);
  }
  void enter(std::size_t i) {
    std::uint32_t& head = heads_[slot(ops_[i].known.hash)];
    ops_[i].next = std::exchange(head, static_cast<std::uint32_t>(i));
  }
  /// Makes room for twice as many. Slots are a power of two, one for each op at least.
  void grow() {
    const std::size_t room = std::max(kMostInTurn, std::bit_ceil(2 * ops_.size()));
    ops_.reserve(room);
    if (room == kMostInTurn) return;
    heads_.assign(room, kNone);
    for (std::size_t i = 0; i < ops_.size(); ++i) enter(i);
  }

  std::vector<std::uint32_t> heads_;  // the latest op of each slot; none while ops are few
  std::vector<Entry> ops_;            // in the order in which they were added
};

/// note [scopes]
///
/// Blocks are visited down the dominator tree, nested regions with the op that has them. What was
/// seen in a block is forgotten when its subtree is done. So every op that is known dominates the
/// op at hand, and its operands have been merged before.
class Merging {
 public:
  explicit Merging(PassRun& run)
      : run_(run), effects_(run.analysis<Effects>()), rewriter_(run.module()) {}

  void run() {
    merge(run_.region());
    LocationTable& locations = run_.module().context().locations();
    for (auto& [survivor, parts] : merged_) {
      parts.insert(parts.begin(), survivor->location());
      rewriter_.set_location(*survivor, locations.fused(parts));
    }
  }

 private:
  void merge(Region& region) {
    merge_free_values(region);
    if (!region.has_several_blocks()) {
      const std::size_t known_before = known_.size();
      for (Block* block : region.blocks()) merge(*block);
      known_.forget(known_before);
    } else {
      merge_blocks(region);
    }
  }

  void merge_blocks(Region& region) {
    const Dominance& dominance = run_.analysis<Dominance>();
    std::unordered_map<const Block*, std::vector<Block*>> dominated;
    std::vector<Visit> open;
    for (Block* block : region.reversed_blocks()) {
      const Block* above = dominance.immediate_dominator(*block);
      if (above == nullptr) {
        open.push_back({block});
      } else {
        dominated[above].push_back(block);
      }
    }
    while (!open.empty()) {
      if (open.back().is_done) {
        known_.forget(open.back().known_before);
        open.pop_back();
        continue;
      }
      open.back() = {open.back().block, known_.size(), true};
      Block& block = *open.back().block;
      merge(block);
      for (Block* below : dominated[&block]) open.push_back({below});
    }
  }

  struct Visit {
    Block* block = nullptr;
    std::size_t known_before = 0;  ///< ops
    bool is_done = false;          ///< but for what it dominates
  };

  void merge(Block& block) {
    for (Op* op : block.ops()) {
      if (merge(*op) || op->has(Trait::kIsolated)) continue;
      for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
        scopes_.push_back({region, symbols_owned_by(*region)});
        merge(*region);
        scopes_.pop_back();
      }
    }
  }

  const Region* scope_of(const Op& op) const {
    const auto owns = [&](const Scope& each) { return has_symbol_of(op, each.owned); };
    const auto found = std::find_if(scopes_.rbegin(), scopes_.rend(), owns);
    return found == scopes_.rend() ? nullptr : found->region;
  }

  void merge_free_values(Region& region) {
    if (region.free_values().empty()) return;
    std::unordered_multimap<std::size_t, Value*> seen;
    for (Value* value : region.free_values()) {
      // Constants of codes may have scales of their own.
      if (!value->has_symbol() && holds_codes(*value)) continue;
      const std::size_t hash = hash_of(*value);
      const auto [first, last] = seen.equal_range(hash);
      const auto same = std::find_if(
          first, last, [&](const auto& each) { return are_same(*each.second, *value); });
      if (same == last) {
        seen.emplace(hash, value);
        continue;
      }
      if (!value->has_uses()) continue;
      rewriter_.replace_all_uses(*value, *same->second);
      run_.count("constants merged");
    }
    rewriter_.erase_unused_free_values(region);
  }

  bool can_merge(const Op& op) const {
    const bool declares = op.has_symbol() && !callee_of(op);
    return op.result_count() != 0 && !op.has(Trait::kTerminator) && !declares &&
           std::ranges::none_of(op.results(), &Value::has_symbol) && effects_.is_pure(op);
  }

  bool have_equal_scales(const Op& a, const Op& b) const {
    return std::ranges::all_of(a.results(), [&](const Value& each) {
      return have_same_scales(each, *b.result(each.index()));
    });
  }

  /// True if the op is gone.
  bool merge(Op& op) {
    if (!can_merge(op)) return false;
    const std::size_t hash = hash_of(op);
    const bool has_codes = hold_codes(op);
    const Region* const scope = scope_of(op);
    Op* same = known_.find(hash, [&](const KnownOp& known) {
      return known.scope == scope && are_equivalent(*known.op, op) &&
             ((!known.has_codes && !has_codes) || have_equal_scales(*known.op, op));
    });
    if (same == nullptr) {
      known_.add({&op, has_codes, scope, hash});
      return false;
    }
    Op& survivor = *same;
    merged_[&survivor].push_back(op.location());
    std::vector<Value*> values;
    for (Value& result : survivor.results()) values.push_back(&result);
    rewriter_.replace(op, values);
    run_.count("ops merged");
    return true;
  }

  PassRun& run_;
  const Effects& effects_;
  Rewriter rewriter_;
  KnownOps known_;
  struct Scope {
    const Region* region = nullptr;
    std::unordered_set<Symbol> owned;
  };
  std::vector<Scope> scopes_;                              // the regions around the op at hand
  std::unordered_map<Op*, std::vector<Location>> merged_;  // of ops that are gone, by survivor
};

PassResult run_cse(PassRun& run) {
  const DeadCode* known = run.known<DeadCode>();
  const bool has_some = known != nullptr && known->exists();
  Merging(run).run();
  if (has_some) run.forget<DeadCode>();  // others may have been merged into what was dead
  return run.result();
}

}  // namespace

Pass cse_pass() {
  return {.name = "cse",
          .summary = "merges operations that compute the same value, and equal constants",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .reads = AnalysisSet::of<Effects>(),
          .preserves = AnalysisSet::of<Dominance, SymbolRanges, DeadCode, Effects>(),
          .run = run_cse};
}

}  // namespace mir
