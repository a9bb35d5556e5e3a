// Equal graphs of two modules, whose parts belong together in their order.
#pragma once

#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Compares two ops with all that is inside them, names of values and locations apart. The parts of
/// equal ops are pairs in their order, so nothing has to be aligned.
class EqualGraphs {
 public:
  template <class T>
  using Pairs = std::vector<std::pair<const T*, const T*>>;

  /// `partners`: the values of the second module that belong to those of the first, by id; null for
  /// values without a partner. Has the results of these ops.
  explicit EqualGraphs(std::vector<const Value*>& partners) : partners_(partners) {}

  /// Returns true if the ops are equal. Then the partners of the values inside are set, and the
  /// lists below have all parts of both, the ops themselves included.
  bool compare(const Op& a, const Op& b);

  const Pairs<Op>& ops() const { return ops_; }
  const Pairs<Block>& blocks() const { return blocks_; }
  const Pairs<Value>& values() const { return values_; }

 private:
  bool are_alike(const Op& a, const Op& b);
  bool are_alike(const Region& a, const Region& b);
  bool are_alike(const Block& a, const Block& b);
  bool pair(const Value& a, const Value& b);
  bool have_equal_operands(const Op& a, const Op& b) const;
  bool have_equal_successors(const Op& a, const Op& b) const;

  std::vector<const Value*>& partners_;
  Pairs<Op> ops_;
  Pairs<Block> blocks_;
  Pairs<Value> values_;
};

}  // namespace mir
