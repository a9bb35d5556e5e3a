// Pairs of ops, blocks and values of two modules that belong together.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Graphs and fragments of one symbol are pairs, the k-th with the k-th, wherever they are in their
/// block; so are those that differ in their symbol alone. Other ops of paired blocks keep their
/// order: equal ops are pairs, and between these those that differ least (see align_ops). Blocks
/// with equal ops are pairs, between these those with ops of equal names, then others. Results and
/// arguments belong to the pairs; free values to their regions, those with symbols from the
/// beginning, others as `meet` finds them. All parts of equal graphs belong together in their
/// order.
class Pairing {
 public:
  /// `inputs_by_port`: inputs of the modules that have one port are pairs, at any position.
  Pairing(const Module& before, const Module& after, bool inputs_by_port);

  /// Returns the counterpart in `after` of an op, block or value of `before`; null if there is
  /// none.
  const Op* after(const Op& op) const { return ops_[op.id()]; }
  const Block* after(const Block& block) const {
    const auto at = blocks_.find(&block);
    return at == blocks_.end() ? nullptr : at->second;
  }
  const Value* after(const Value& value) const { return values_[value.id()]; }
  /// Returns the counterpart in `before` of an op of `after`; null if there is none.
  const Op* before(const Op& op) const { return ops_back_[op.id()]; }

  /// Pairs two values that are free in regions of one pair and belong to no other.
  /// False: they are none, have symbols or belong to others.
  bool meet(const Value& before, const Value& after);

 private:
  using Ops = std::vector<const Op*>;
  using Blocks = std::vector<const Block*>;
  using Values = std::vector<const Value*>;

  void regions(const Op& a, const Op& b);
  void free_values(const Region& a, const Region& b);
  void blocks(const Block& a, const Block& b);
  void graphs(Ops& before, Ops& after);
  void graphs_by(Ops& before, Ops& after, const std::function<std::string(const Op&)>& key);
  void ops(const Op& a, const Op& b);
  bool equal_graphs(const Op& a, const Op& b);
  void values(ValueRange a, ValueRange b);
  void inputs(const Region& a, const Region& b);
  void pair(const Value& a, const Value& b);

  bool inputs_by_port_;
  Ops ops_, ops_back_;           // by id; null: none
  Values values_, values_back_;  // likewise
  std::unordered_map<const Block*, const Block*> blocks_;
};

/// True if the op is paired by its symbol.
bool is_declared(const Op& op);

}  // namespace mir
