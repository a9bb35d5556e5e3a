// Records ops in execution order, with the producer and readers of each value.
#include "passes/fuse/step_graph.hpp"

namespace mir {

void StepGraph::add(const Op& op, std::span<const Index> operands, Index first_result,
                    std::uint32_t part) {
  const std::size_t step = steps_.size();
  has_parts_ = has_parts_ || part != 0;
  steps_.push_back({.op = &op,
                    .first_operand = static_cast<std::uint32_t>(operands_.size()),
                    .operand_count = static_cast<std::uint32_t>(operands.size()),
                    .first_result = first_result,
                    .part = part});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  for (const Index value : operands) {
    last_[value] = step;
    ++readers_[value];
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) producers_[first_result + i] = step;
}

}  // namespace mir
