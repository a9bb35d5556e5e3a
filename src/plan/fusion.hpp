// Which steps of a schedule become one kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/fast/elementwise.hpp"
#include "plan/execution_plan.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Who makes and reads the values of a schedule.
class StepGraph {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit StepGraph(const Schedule& schedule);

  /// The step whose result the value is; kNone for inputs, parameters and constants.
  std::size_t producer(ValueIndex index) const { return producers_[index]; }
  /// The only step that reads the value, once; kNone when there are more or the caller reads it.
  std::size_t only_reader(ValueIndex index) const {
    return readers_[index] == 1 ? last_[index] : kNone;
  }
  const Schedule& schedule() const { return schedule_; }

  const Step& at(std::size_t step) const { return schedule_.steps()[step]; }
  /// Operands of steps that are the value; the caller counts as two.
  std::uint32_t readers(ValueIndex index) const { return readers_[index]; }
  ValueIndex operand(std::size_t step, std::size_t i) const {
    return schedule_.operands(at(step))[i];
  }
  bool is(std::size_t step, OpId op) const { return step != kNone && at(step).op->is(op); }

 private:
  const Schedule& schedule_;
  std::vector<std::size_t> producers_;
  std::vector<std::size_t> last_;
  std::vector<std::uint32_t> readers_;
};

struct FusedGroup {
  enum class Kind : std::uint8_t {
    kLinears,    ///< steps: products of one x
    kTailed,     ///< steps: Linear, then an activation or Add or both
    kGated,      ///< steps: gate Linear, activation, up Linear, Mul
    kAttention,  ///< steps: from the product with the keys to that with the values
  };
  Kind kind{};
  std::vector<std::size_t> steps = {};
  std::size_t anchor = 0;  ///< the step in whose place the group runs
  /// Of products: the RMSNorm before them, which nothing else reads.
  std::optional<std::size_t> norm = {};
  std::optional<fast::Unary> activation = {};  ///< kTailed, kGated
  std::optional<ValueIndex> residual = {};     ///< kTailed
  float scale = 1;                             ///< kAttention
  bool causal = false;                         ///< kAttention
  std::optional<std::int64_t> window = {};
  std::optional<ValueIndex> mask = {};
};

/// Groups without common steps, in the order of their anchors. Steps that are `taken` are in none.
std::vector<FusedGroup> find_groups(const StepGraph& graph, Fusion fusion,
                                    std::span<const Tensor> constants, std::vector<bool> taken);

}  // namespace mir
