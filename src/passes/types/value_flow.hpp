// Values that control flow and calls pass on, and that therefore have one type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Where a terminator, call or op with regions passes its operands to. Targets are entry arguments,
/// block arguments, results of such ops, and the results of graphs. Targets that receive the same
/// operand, and the results of a graph and of its calls, have one type: they are one class.
class ValueFlow {
 public:
  using Target = std::uint32_t;

  explicit ValueFlow(const Module& module);

  /// No value if the operand is not passed on as it is.
  std::optional<Target> of_operand(const Op& op, std::uint32_t operand) const;
  /// The representative of the class of a value. No value if nothing is passed to the value.
  std::optional<Target> of_value(const Value& value) const;
  /// The representative of the class of a result of a graph or of the module body.
  std::optional<Target> of_result(const Region& region, std::uint32_t result) const;
  /// Representatives are less than this number.
  Target size() const { return static_cast<Target>(parents_.size()); }
  /// Values whose sources are not known, such as arguments of a region without a rule.
  const std::vector<const Value*>& unknown() const { return unknown_; }

 private:
  Target find(Target target) const;
  Target add();
  Target node(const Value& value);
  Target node(const Region& region, std::uint32_t result);
  void unite(Target a, Target b);
  void pass(const Op& op, std::uint32_t operand, Target to);

  void add_op(const Op& op);
  void add_edge(const Op& op, const RegionEdge& edge);
  void add_exits(const Region& region);
  void add_call(const Op& op);

  mutable std::vector<Target> parents_;
  std::unordered_map<const Value*, Target> values_;
  std::map<std::pair<const Region*, std::uint32_t>, Target> results_;
  std::map<std::pair<const Op*, std::uint32_t>, Target> operands_;
  std::vector<const Value*> unknown_;
};

}  // namespace mir
