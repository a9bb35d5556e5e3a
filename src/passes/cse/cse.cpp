// Merges ops that compute the same value, and constants and parameters that are the same.
#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dialects/quantisation.hpp"
#include "mir/equivalence.hpp"
#include "mir/rewriter.hpp"
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

/// note [scopes]
///
/// Blocks are visited down the dominator tree, nested regions with the op that has them. What was
/// seen in a block is forgotten when its subtree is done. So every op that is known dominates the
/// op at hand, and its operands have been merged before.
class Merging {
 public:
  Merging(PassRun& run, const Dominance& dominance)
      : run_(run), dominance_(dominance), rewriter_(run.module()) {}

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
    std::unordered_map<const Block*, std::vector<Block*>> dominated;
    std::vector<Visit> open;
    for (Block* block : region.reversed_blocks()) {
      const Block* above = dominance_.immediate_dominator(*block);
      if (above == nullptr) {
        open.push_back({block});
      } else {
        dominated[above].push_back(block);
      }
    }
    while (!open.empty()) {
      if (open.back().is_done) {
        forget(open.back().known_before);
        open.pop_back();
        continue;
      }
      open.back() = {open.back().block, order_.size(), true};
      Block& block = *open.back().block;
      merge(block);
      for (Block* below : dominated[&block]) open.push_back({below});
    }
  }

  struct Known {
    Op* op = nullptr;
    bool has_codes = false;  ///< before others were merged into it
  };

  struct Visit {
    Block* block = nullptr;
    std::size_t known_before = 0;  ///< ops
    bool is_done = false;          ///< but for what it dominates
  };

  void merge(Block& block) {
    for (Op* op : block.ops()) {
      if (merge(*op) || op->has(Trait::kIsolated)) continue;
      for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
        merge(*region);
      }
    }
  }

  void forget(std::size_t known_before) {
    for (; order_.size() > known_before; order_.pop_back()) {
      auto [at, last] = known_.equal_range(order_.back().first);
      while (at != last && at->second.op != order_.back().second) ++at;
      known_.erase(at);
    }
  }

  void merge_free_values(Region& region) {
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

  static bool can_merge(const Op& op) {
    return op.result_count() != 0 && !op.has(Trait::kTerminator) && !op.has_symbol() &&
           std::ranges::none_of(op.results(), &Value::has_symbol) && is_pure(op);
  }

  bool have_equal_scales(const Op& a, const Op& b) const {
    return std::ranges::all_of(a.results(), [&](const Value& each) {
      return have_same_scales(each, *b.result(each.index()), run_.module().context());
    });
  }

  /// True if the op is gone.
  bool merge(Op& op) {
    if (!can_merge(op)) return false;
    const std::size_t hash = hash_of(op);
    const bool has_codes = hold_codes(op);
    const auto [first, last] = known_.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& each) {
      const Known& known = each.second;
      return are_equivalent(*known.op, op) &&
             ((!known.has_codes && !has_codes) || have_equal_scales(*known.op, op));
    });
    if (same == last) {
      known_.emplace(hash, Known{&op, has_codes});
      order_.emplace_back(hash, &op);
      return false;
    }
    Op& survivor = *same->second.op;
    merged_[&survivor].push_back(op.location());
    std::vector<Value*> values;
    for (Value& result : survivor.results()) values.push_back(&result);
    rewriter_.replace(op, values);
    run_.count("ops merged");
    return true;
  }

  PassRun& run_;
  const Dominance& dominance_;
  Rewriter rewriter_;
  std::unordered_multimap<std::size_t, Known> known_;      // by hash
  std::unordered_map<Op*, std::vector<Location>> merged_;  // of ops that are gone, by survivor
  std::vector<std::pair<std::size_t, Op*>> order_;  // of those that are known, with their hash
};

constexpr std::string_view kRepeatedOps =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%c:tensor<[2], Float32, CPU>) {
    linalg.CPU.MulOp(%x, %h:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%a:tensor<[2], Float32, CPU>)
    linalg.CPU.MulOp(%x, %g:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%b:tensor<[2], Float32, CPU>)
    linalg.CPU.AddOp(%a, %b) -> (%c:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%c) -> ()
}
)";

PassResult run_cse(PassRun& run) {
  Merging(run, run.analysis<Dominance>()).run();
  return run.result();
}

}  // namespace

Pass cse_pass() {
  return {.name = "cse",
          .summary = "merges operations that compute the same value, and equal constants",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges>(),
          .example = std::string(kRepeatedOps),
          .run = run_cse};
}

}  // namespace mir
