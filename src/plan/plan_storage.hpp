// Memory of the planned values of a plan in a run: extents, strides, addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/fast/large_pages.hpp"
#include "mir/type.hpp"
#include "plan/arena.hpp"
#include "plan/frame.hpp"
#include "plan/plan_parts.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// One block of memory for all values of home kOwn whose extents become known in one phase: those
/// that are not alive together share places.
class PlanStorage {
 public:
  /// `overwrites`: results may take the places of operands that end with their node. The schedule
  /// must outlive the storage; of the parts only what bind() is given later is read again.
  PlanStorage(const Schedule& schedule, const PlanParts& parts, bool overwrites);

  /// Gives every planned value of a phase its extents and its place; `fixed` are constants and
  /// parameters, by index. Earlier phases were bound in this run. An error when a symbol that sizes
  /// a value has no value or memory is short. Cheap when the extents are those of the call before.
  Result<void> bind(const PlanParts& parts, std::span<const Tensor> fixed,
                    const DimBindings& bindings, std::uint16_t phase = 0);
  /// After a bind() that failed: the value that no tensor can have, if that is why.
  std::optional<PlanValueIndex> refused() const { return refused_; }
  /// Sets the addresses of the inputs of the current run, and of all views.
  void set_inputs(const PlanParts& parts, std::span<const Tensor> inputs);

  /// By index; empty when no value is planned.
  std::span<TensorRef> tensors() { return tensors_; }
  /// Lower bound over all phases, as they were bound last.
  std::uint64_t lower_bound() const;
  /// Bytes of the phases that were bound since phase 0 was.
  std::uint64_t planned_bytes() const { return planned_; }

 private:
  /// Values whose extents the same step determines.
  struct Phase {
    std::vector<PlanValueIndex> values;
    std::vector<std::uint32_t> dims;  ///< in dims_
    Placements placements;
    fast::LargePages block;
    std::uint64_t planned = 0;
  };

  void collect_dims(const PlanParts& parts);
  void find_lifetimes(const PlanParts& parts, bool overwrites);
  void keep_for_observers(const PlanParts& parts);
  Lifetime& place(const PlanParts& parts, PlanValueIndex owner);
  /// Evaluates the extents of the phase. True if they changed.
  Result<bool> evaluate_dims(const Phase& phase, const DimBindings& bindings);
  Result<void> set_extents(const PlanParts& parts, std::uint16_t number);
  Result<void> place_values(Phase& phase);
  void set_views(const PlanParts& parts, std::uint16_t number);
  void set_addresses(const PlanParts& parts, std::span<const Tensor> fixed, std::uint16_t number);

  const Schedule& schedule_;
  std::vector<Dim> dims_;                // each once
  std::vector<std::uint32_t> dim_of_;    // for each entry of parts.dims
  std::vector<std::uint32_t> place_of_;  // values of home kOwn: their number among lifetimes
  std::vector<Phase> phases_;
  std::size_t bound_ = 0;  // how many phases, from the first one, are bound to extents_
  std::uint64_t planned_ = 0;
  std::vector<std::int64_t> extents_;  // of dims_, as bound
  std::vector<TensorRef> tensors_;
  std::optional<PlanValueIndex> refused_;
};

}  // namespace mir
