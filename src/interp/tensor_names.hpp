// Values of a schedule that are names of one tensor.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan/schedule.hpp"

namespace mir {

/// A value as an op mentions it.
struct TensorName {
  const Value* value = nullptr;
  const Attr* spec = nullptr;          ///< the QuantSpec of the mention
  const Op* place = nullptr;           ///< null: a parameter that an op owns
  const Schedule* schedule = nullptr;  ///< that `call` belongs to
  std::uint32_t call = 0;
};

/// The QuantSpec that a value states itself; null: none.
const Attr* stated_quant_spec(const Value& value);

/// Unites the values that calls, control flow and casts pass on as they are, in a schedule and in
/// those of its regions. MatchShape passes its operand on unless the result states a scale.
class TensorNames {
 public:
  explicit TensorNames(const Schedule& schedule);

  /// The names of each tensor that a step reads or makes, in the order of the first one. Names that
  /// are one value are neighbours, those with a QuantSpec first.
  std::vector<std::vector<TensorName>> by_tensor() const;

 private:
  using Node = std::uint32_t;

  /// The place of an op in a run.
  struct At {
    const Op* op;
    const Schedule* schedule;
    std::uint32_t call;
  };

  void add(const Schedule& schedule);
  void add_block(const Block& block, const Schedule& schedule, std::uint32_t call);
  void add_blocks(const Region& region, const Schedule& schedule, std::uint32_t call);
  void add_op(const At& at);
  void add_step(const Schedule& schedule, std::size_t number);
  void pass(const Op& from, const RegionEdge& edge, ValueRange targets, const At& at);
  void pass_ends(const Region& region, const RegionEdge& edge, ValueRange targets, const At& at);
  void pass_through(const Region& region, const At& at);

  Node node(const Value& value);
  Node find(Node node) const;
  void name(const Value& value, const Attr* spec, const At& at);
  void unite(const Value& a, const Value& b);

  std::unordered_set<const Op*> known_;
  std::vector<std::pair<const Value*, At>> passed_;  // named where no op mentions them
  std::unordered_map<const Value*, Node> nodes_;
  mutable std::vector<Node> parents_;  // the smaller number is the parent
  std::vector<bool> is_used_;
  std::vector<std::vector<TensorName>> names_;
};

}  // namespace mir
