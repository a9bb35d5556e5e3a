// The node that computes a chain of elementwise ops in one pass.
#include "kernels/fast/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

namespace {

fast::ChainFunction chain_function(const Op& op) {
  const FastFunction& function = find_fast_op(op)->function;
  if (const auto* unary = std::get_if<fast::Unary>(&function)) return *unary;
  if (const auto* binary = std::get_if<fast::Binary>(&function)) return *binary;
  return clip_bounds(op);
}

/// Steps by their numbers in a chain, and the values that it reads from elsewhere.
struct ChainParts {
  std::vector<fast::ChainStep> steps;
  std::vector<PlanValueIndex> operands;

  explicit ChainParts(std::span<const PlannedStep> planned) {
    std::vector<PlanValueIndex> results;
    for (const PlannedStep& step : planned) {
      fast::ChainStep part{.function = chain_function(*step.op)};
      for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const bool is_operand = std::ranges::find(results, step.operands[i]) == results.end();
        part.sources[i] = {is_operand, position(is_operand ? operands : results, step.operands[i])};
      }
      results.push_back(step.results.front());
      steps.push_back(part);
    }
  }

 private:
  /// Returns the position of a value in the list; appends a new value.
  static std::uint8_t position(std::vector<PlanValueIndex>& list, PlanValueIndex value) {
    const auto found = std::ranges::find(list, value);
    const auto at = static_cast<std::uint8_t>(found - list.begin());
    if (found == list.end()) list.push_back(value);
    return at;
  }
};

/// "Add + Mul + Tanh", at most four names.
std::string chain_name(std::span<const PlannedStep> steps) {
  constexpr std::size_t kMost = 4;
  std::string name;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 == kMost && steps.size() > kMost) {
      return name + fmt::format(" + {} more", steps.size() - i);
    }
    if (i > 0) name += " + ";
    name += short_name(*steps[i].op);
  }
  return name;
}

class ChainNode final : public PlanNode {
 public:
  ChainNode(std::span<const PlannedStep> steps, ChainParts parts)
      : PlanNode(steps.back().number, std::move(parts.operands), steps.back().results),
        chain_(std::move(parts.steps)),
        name_(chain_name(steps)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    std::array<fast::BroadcastOperand, fast::Chain::kMaxOperands> from;
    for (std::size_t i = 0; i < operands().size(); ++i) {
      const TensorRef& operand = frame[operands()[i]];
      if (!all_broadcast({&operand}, out)) return require(false, kNoBroadcast);
      from[i] = broadcast(operand, out);
    }
    fast::chain(chain_, std::span(from).first(operands().size()), result_of(out), frame.context);
    return {};
  }
  std::string name() const override { return name_; }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  fast::Chain chain_;
  std::string name_;
};

}  // namespace

std::unique_ptr<PlanNode> chain_node(std::span<const PlannedStep> steps) {
  return std::make_unique<ChainNode>(steps, ChainParts(steps));
}

}  // namespace mir
