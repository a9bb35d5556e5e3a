// Moves ops down to their first user, which shortens the lives of their results.
//
// note [gain]: an op that moves down keeps its operands alive longer. It moves within a block only
// if that costs no memory: its results take at least as many bytes as the operands whose last users
// are above its new place. It moves into another block or region in any case: then it does not run
// where nobody needs it.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/extent_walk.hpp"
#include "ir/joined_extents.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/work.hpp"
#include "passes/analysis/block_cycles.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

class OpSinking {
 public:
  explicit OpSinking(PassRun& run)
      : run_(run),
        effects_(run.analysis<Effects>()),
        table_(run.module().context().dims()),
        rewriter_(run.module()) {}

  PassResult apply() {
    sink_in(run_.region());
    return run_.result();
  }

 private:
  /// Users come before the ops that they use, so that a chain moves as a whole.
  void sink_in(Region& region) {
    for (Block* block : region.reversed_blocks()) {
      for (Op* op : block->reversed()) {
        if (can_sink(*op)) sink(*op);
      }
    }
    for (Block* block : region.blocks()) {
      for (Op* op : block->ops()) {
        if (op->has(Trait::kIsolated)) continue;
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) sink_in(*in);
      }
    }
  }

  bool can_sink(const Op& op) const {
    return effects_.is_pure(op) && !op.has(Trait::kTerminator) && !op.has(Trait::kSymbol) &&
           op.first_region() == nullptr && std::ranges::any_of(op.results(), &Value::has_uses) &&
           !finds_out_symbols(op);
  }

  void sink(Op& op) {
    Region& region = *op.parent_region();
    std::vector<Op*> users;  // those directly in the region, or that contain users
    for (const Value& result : op.results()) {
      for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
        users.push_back(ancestor_of(*use->user(), region));
      }
    }
    Op* const target = place_inside(op, users);
    if (target != nullptr) return move(op, *target, "operations moved into a region");
    Block* const block = only_block_of(users);
    if (block == nullptr) return;
    Op& user = *first_of(users);
    if (block != op.block()) {
      if (may_repeat_blocks(region) || has_symbol_bound_again(op)) return;
      move(op, user, "operations moved to another block");
      return;
    }
    if (op.next() != &user && saves_memory(op, user)) move(op, user, "operations moved down");
  }

  void move(Op& op, Op& before, std::string_view what) {
    rewriter_.move_before(op, before);
    run_.count(what);
  }

  /// The op of the region that is or contains the op; null if the region does not contain it.
  static Op* ancestor_of(Op& op, const Region& region) {
    Op* at = &op;
    while (at != nullptr && at->parent_region() != &region) at = at->parent_op();
    return at;
  }

  // -- places -------------------------------------------------------------------------------------

  /// The first user in the only block of a region that contains all users and runs at most once;
  /// null if there is none.
  Op* place_inside(const Op& op, std::span<Op* const> users) {
    const Op* const around = users.front();
    if (std::ranges::any_of(users, [&](const Op* each) { return each != around; })) return nullptr;
    // The regions may have symbols of the same name, which are others.
    const auto [bound, is_new] = bound_in_.try_emplace(around);
    if (is_new) bound->second = symbols_bound_in(*around);
    if (has_symbol_of(op, bound->second)) return nullptr;
    if (around->block() != op.block() && has_symbol_bound_again(op)) return nullptr;
    for (Region* in = around->first_region(); in != nullptr; in = in->next()) {
      if (in->empty() || in->has_several_blocks() || !runs_of(*in).at_most_once) continue;
      std::vector<Op*> inner;
      for (const Value& result : op.results()) {
        for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
          inner.push_back(ancestor_of(*use->user(), *in));
        }
      }
      if (std::ranges::find(inner, nullptr) != inner.end()) continue;
      return first_of(inner);
    }
    return nullptr;
  }

  /// True if several blocks give a symbol of the op its value. Below the next one, the types of its
  /// operands and results would not hold.
  bool has_symbol_bound_again(const Op& op) {
    const Region& region = *op.parent_region();
    const auto [bound, is_new] = bound_again_in_.try_emplace(&region);
    if (is_new) bound->second = symbols_bound_by_several_blocks(region);
    return has_symbol_of(op, bound->second);
  }

  static std::unordered_set<Symbol> symbols_bound_by_several_blocks(const Region& region) {
    std::unordered_set<Symbol> once, again;
    for (const Block* block : region.blocks()) {
      std::unordered_set<Symbol> here;
      const auto add = [&](Symbol symbol) { here.insert(symbol); };
      for_each_symbol_joined_by(*block, add);
      for (const Op* op : block->ops()) {
        if (!op->has(Trait::kIsolated)) for_each_symbol_bound_by(*op, add);
      }
      for (const Symbol symbol : here) {
        if (!once.insert(symbol).second) again.insert(symbol);
      }
    }
    return again;
  }

  static Block* only_block_of(std::span<Op* const> users) {
    Block* block = users.front()->block();
    const bool is_only =
        std::ranges::all_of(users, [&](const Op* each) { return each->block() == block; });
    return is_only ? block : nullptr;
  }

  /// Returns the first of some ops of one block.
  static Op* first_of(std::span<Op* const> users) {
    return *std::ranges::min_element(
        users, [](const Op* a, const Op* b) { return a->is_before_in_block(b); });
  }

  // -- memory -------------------------------------------------------------------------------------

  /// See note [gain]. False if extents are not known, or if an operand has more users than are
  /// looked at for each of them.
  bool saves_memory(const Op& op, const Op& user) {
    Dim results, kept;
    for (const Value& each : op.results()) results = table_.add(results, bytes_of_type(each));
    std::unordered_set<const Value*> counted;
    for (const Use& use : op.operand_uses()) {
      const Value& value = *use.value();
      if (value.is_free() || !counted.insert(&value).second) continue;
      const auto is_needed = is_needed_at(value, op, user);
      if (!is_needed) return false;
      if (*is_needed) continue;
      kept = table_.add(kept, bytes_of_type(value));
    }
    // Ranges of extents begin at 0.
    const Dim above = table_.add(table_.subtract(results, kept), Dim(1));
    return run_.analysis<SymbolRanges>().range(above).least >= 1;
  }

  Dim bytes_of_type(const Value& value) { return work_tensor(table_, value.type()).bytes; }

  /// True if `user` or a later op, other than `op`, uses the value. No value if too many ops use
  /// it.
  static std::optional<bool> is_needed_at(const Value& value, const Op& op, const Op& user) {
    constexpr std::size_t kMostUsers = 64;
    const Region& region = *op.parent_region();
    std::size_t users = 0;
    for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
      if (++users > kMostUsers) return std::nullopt;
      if (use->user() == &op) continue;
      const Op* at = use->user()->ancestor_in(region);
      if (at == nullptr || at->block() != op.block() || at == &user ||
          user.is_before_in_block(at)) {
        return true;
      }
    }
    return false;
  }

  PassRun& run_;
  const Effects& effects_;
  DimTable& table_;
  Rewriter rewriter_;
  std::unordered_map<const Op*, std::unordered_set<Symbol>> bound_in_;  // see symbols_bound_in()
  std::unordered_map<const Region*, std::unordered_set<Symbol>> bound_again_in_;
};

}  // namespace

Pass sink_pass() {
  return {.name = "sink",
          .summary =
              "moves pure operations down to their first user, or into the only block or "
              "region of their users",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .reads = AnalysisSet::of<SymbolRanges, Effects>(),
          .preserves = AnalysisSet::of<Aliases, SymbolRanges, Effects>(),
          .run = [](PassRun& run) { return OpSinking(run).apply(); }};
}

}  // namespace mir
