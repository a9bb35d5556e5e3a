// Nodes and values that the builder makes from a schedule.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "mir/type.hpp"
#include "plan/plan_node.hpp"
#include "plan/plan_value.hpp"

namespace mir {

struct PlanParts {
  std::vector<PlanValue> values;
  std::vector<Dim> dims;  ///< of all planned values, one after the other
  std::vector<std::unique_ptr<PlanNode>> nodes;
  std::vector<std::size_t> phase_steps;  ///< that begin phases 1, 2, ...

  /// The value whose bytes a view shows; the value itself for all others.
  PlanValueIndex owner_of(PlanValueIndex index) const {
    return values[index].home == Home::kView ? values[index].base : index;
  }
  std::span<const Dim> dims_of(const PlanValue& value) const {
    return std::span(dims).subspan(value.first_dim, value.rank);
  }
  bool has_planned_values() const { return std::ranges::any_of(values, &PlanValue::is_planned); }
  /// True if nodes make values that are tensors of their own.
  bool has_made_values() const {
    return std::ranges::any_of(values,
                               [](const PlanValue& value) { return value.home == Home::kTensor; });
  }
};

}  // namespace mir
