// Estimates the peak bytes of live values in a graph.
#include "passes/estimate/peak.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mir/analysis.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "mir/work.hpp"

namespace mir {

namespace {

/// True if a value shares the bytes of the first operand of its op.
bool shares_bytes(const Value& value) {
  return value.is_result() && value.defining_op()->has(Trait::kSameBytes);
}

/// The block that defines a value; null for a free one.
const Block* defining_block(const Value& value) {
  return value.is_result() ? value.defining_op()->block() : value.argument_of();
}

class PeakSearch {
 public:
  PeakSearch(const Region& graph, DimTable& table, const PeakOfCall& peak_of_call)
      : table_(table), peak_of_call_(peak_of_call), liveness_(graph) {}

  /// Values from outside the region do not count.
  Maximum peak_of(const Region& region) {
    Maximum peak;
    for (const Block* block : region.blocks()) add(*block, peak);
    return peak;
  }

 private:
  /// The uses of values in one block.
  struct BlockUses {
    std::unordered_map<const Value*, const Op*> last;  ///< by storage
    std::unordered_set<const Value*> live_out;         ///< storages
  };

  /// The value whose bytes this one shares.
  const Value& storage_of(const Value& value) {
    if (!shares_bytes(value)) return value;
    const auto known = storages_.find(&value);
    if (known != storages_.end()) return *known->second;
    const Value* at = &value;
    while (shares_bytes(*at) && !storages_.contains(at)) at = at->defining_op()->operand(0);
    const Value& storage = shares_bytes(*at) ? *storages_.at(at) : *at;
    storages_.emplace(&value, &storage);
    return storage;
  }

  Dim bytes_of(const Value& value) { return work_tensor(table_, value.type()).bytes; }

  /// The bytes of values that hold none of the bytes of others.
  template <class Values>
  Dim bytes_of_new(const Values& values) {
    Dim sum;
    for (const Value& each : values) {
      if (!shares_bytes(each)) sum = table_.add(sum, bytes_of(each));
    }
    return sum;
  }

  /// The storages that an op reads, those that its regions read from around it included.
  template <class Visit>
  void for_each_use(const Op& op, const Visit& visit) {
    for (const Use& use : op.operand_uses()) visit(storage_of(*use.value()));
    if (op.first_region() == nullptr) return;
    for (const Value* storage : captured_by(op)) visit(*storage);
  }

  /// The storages from around an op that its regions read, each once. Free values are not among
  /// them.
  const std::vector<const Value*>& captured_by(const Op& op) {
    const auto [found, is_new] = captured_.try_emplace(&op);
    std::vector<const Value*>& captured = found->second;
    if (!is_new || op.has(Trait::kIsolated) || op.has(Trait::kTemplate)) return captured;
    std::unordered_set<const Value*> seen;
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      for (const Block* block : region->blocks()) {
        for (const Op* inner : block->ops()) {
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

  BlockUses uses_in(const Block& block) {
    BlockUses uses;
    for (const Op* op : block.ops()) {
      if (op->has(Trait::kSymbol)) continue;
      for_each_use(*op, [&](const Value& storage) { uses.last[&storage] = op; });
    }
    for (const Value* value : liveness_.live_out(block)) uses.live_out.insert(&storage_of(*value));
    return uses;
  }

  static bool is_of_other_block(const Value& storage, const Block& block) {
    const Block* definition = defining_block(storage);
    return definition != nullptr && definition != &block && definition->parent() == block.parent();
  }

  /// The bytes of values of other blocks that are alive when the block begins.
  Dim bytes_before(const Block& block, const BlockUses& uses) {
    std::unordered_set<const Value*> before;
    for (const auto& [storage, op] : uses.last) {
      if (is_of_other_block(*storage, block)) before.insert(storage);
    }
    for (const Value* storage : uses.live_out) {
      if (is_of_other_block(*storage, block)) before.insert(storage);
    }
    Dim sum;
    for (const Value* storage : before) sum = table_.add(sum, bytes_of(*storage));
    return sum;
  }

  void add(const Block& block, Maximum& peak) {
    const BlockUses uses = uses_in(block);
    Dim alive = table_.add(bytes_before(block, uses), bytes_of_new(block.arguments()));
    peak.add(table_, alive);
    for (const Value& each : block.arguments()) {
      if (!uses.last.contains(&each) && !uses.live_out.contains(&each)) {
        alive = table_.subtract(alive, bytes_of(each));
      }
    }
    for (const Op* op : block.ops()) {
      if (op->has(Trait::kSymbol)) continue;
      peak.add(table_, inside(*op).plus(table_, alive));
      alive = table_.add(alive, bytes_of_new(op->results()));
      peak.add(table_, alive);
      alive = table_.subtract(alive, bytes_that_end(*op, block, uses));
    }
  }

  /// The bytes that an op needs while it runs, besides its operands and results.
  Maximum inside(const Op& op) {
    if (op.is(OpId::kGraphFused)) return inside_kernel(op);
    if (callee_of(op)) {
      const Maximum* peak = peak_of_call_(op);
      if (peak == nullptr) return Maximum(Dim::unknown());
      const auto inputs = called_graph(op)->first_region()->entry_arguments();
      return peak->plus(table_, table_.subtract(Dim(), bytes_of_new(inputs)));
    }
    Maximum most;
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      most.add(table_, peak_of(*region));
    }
    return most;
  }

  /// Returns the peak inside an op whose region is one kernel, which stores no value between its
  /// ops.
  Maximum inside_kernel(const Op& op) {
    Maximum most;
    for_each_child(op, [&](const Op& each) { most.add(table_, inside(each)); });
    return most;
  }

  /// The bytes of values whose last use the op is, and of results without uses.
  Dim bytes_that_end(const Op& op, const Block& block, const BlockUses& uses) {
    std::unordered_set<const Value*> ended;
    for_each_use(op, [&](const Value& storage) {
      const Block* definition = defining_block(storage);
      const bool is_of_region = definition != nullptr && definition->parent() == block.parent();
      const bool is_last = uses.last.at(&storage) == &op && !uses.live_out.contains(&storage);
      if (is_of_region && is_last) ended.insert(&storage);
    });
    for (const Value& result : op.results()) {
      const bool is_used = uses.last.contains(&result) || uses.live_out.contains(&result);
      if (!shares_bytes(result) && !is_used) ended.insert(&result);
    }
    Dim sum;
    for (const Value* each : ended) sum = table_.add(sum, bytes_of(*each));
    return sum;
  }

  DimTable& table_;
  const PeakOfCall& peak_of_call_;
  Liveness liveness_;
  std::unordered_map<const Op*, std::vector<const Value*>> captured_;
  std::unordered_map<const Value*, const Value*> storages_;  // of values that share bytes
};

}  // namespace

Maximum peak_of_graph(const Region& graph, DimTable& table, const PeakOfCall& peak_of_call) {
  return PeakSearch(graph, table, peak_of_call).peak_of(graph);
}

}  // namespace mir
