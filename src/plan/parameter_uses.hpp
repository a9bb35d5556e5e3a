// Parameters that the steps of a schedule read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mir/type.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Parameters that each step of a schedule reads.
class ParameterUses {
 public:
  explicit ParameterUses(const Schedule& schedule);

  /// Parameters of the step with this number, each once: its operands, those that its op owns and
  /// those that it names.
  std::span<const Symbol> of(std::size_t step) const { return by_step_[step]; }
  /// Returns the parameters of a step that no later step reads and that are not outputs: the last
  /// ones of of(step).
  std::span<const Symbol> last_of(std::size_t step) const {
    return std::span(by_step_[step]).subspan(first_last_[step]);
  }
  /// Parameters that the schedule returns as outputs.
  std::span<const Symbol> outputs() const { return outputs_; }

 private:
  std::vector<std::vector<Symbol>> by_step_;
  std::vector<std::size_t> first_last_;  // where these begin
  std::vector<Symbol> outputs_;
};

}  // namespace mir
