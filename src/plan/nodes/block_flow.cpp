// Runs the blocks of a region one after the other, each followed by the successor its end chooses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mir/attribute_keys.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/runs.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/planned_region.hpp"

namespace mir {

namespace {

/// Returns the number of the successor that an end chooses, given its operands.
Result<std::size_t> choose(const Op& end, std::span<const Tensor> operands) {
  if (end.is(OpId::kCfBranch)) return std::size_t{0};
  const auto found = one_element(end, operands[0]);
  if (!found) return found.error();
  if (end.is(OpId::kCfCondBranch)) return std::size_t{*found != 0 ? 0U : 1U};
  const Attr* const cases = end.attribute(key::kCases);
  if (cases == nullptr || cases->kind() != AttrKind::kArray) return std::size_t{0};
  const auto is_it = [&](const Attr* each) {
    return each->kind() == AttrKind::kInt && each->integer() == *found;
  };
  const auto all = cases->elements();
  const auto number = static_cast<std::size_t>(std::ranges::find_if(all, is_it) - all.begin());
  return number < all.size() && number + 1 < end.extra().successors.size() ? number + 1 : 0;
}

/// Tensors that a block passed in its last two runs. Those of the run before the last one are
/// mostly free to be written again.
class Given {
 public:
  Tensors take_spare() { return std::exchange(older_, {}); }
  void keep(const Tensors& outputs) {
    older_ = std::move(last_);
    last_ = outputs;
  }

 private:
  Tensors older_, last_;
};

class BlockFlowNode final : public PlanNode {
 public:
  BlockFlowNode(const PlannedStep& step, const ControlStep& control, const PlanOptions& options,
                const PlanResources& resources)
      : PlanNode(step),
        flow_(*control.flow),
        captured_(control.captured),
        blocks_(plan_parts(control, options, resources)),
        around_(std::make_unique<Binder>(flow_.begin.op->module().context(), DimBindings())) {}

  Result<void> run(Frame& frame) const override {
    const auto values = operands_of(*this, frame);
    if (!values) return values.error();
    auto passed = follow(frame, *values);
    if (!passed) return std::move(passed).error();
    for (std::size_t i = 0; i < passed->size(); ++i) {
      if (auto ok = check_result(i, (*passed)[i], frame.binder); !ok) return ok;
    }
    return hand_over(*this, *std::move(passed), frame);
  }

  bool looks_up_parameters() const override { return true; }
  bool runs_plans() const override { return true; }
  std::string name() const override { return "blocks"; }

 private:
  /// Returns the values that the end passes which leaves the region.
  Result<Tensors> follow(const Frame& frame, const Tensors& values) const {
    Tensors slots(flow_.slot_count);
    std::ranges::copy(std::span(values).last(captured_), slots.begin());
    std::vector<Given> given(blocks_.size());
    const BlockFlow::End* end = &flow_.begin;
    Tensors outputs = values;
    std::optional<std::size_t> current;
    Binder& around = *around_;
    around.restart_within(frame.binder, [](Symbol) { return false; });
    while (!end->targets.empty()) {
      const auto chosen = choose(*end->op, outputs);
      if (!chosen) return chosen.error();
      const BlockFlow::Target& target = end->targets[*chosen];
      const bool goes_back = current && target.block <= *current;
      if (goes_back) {
        if (auto ok = begin_iteration(*end->op, *frame.run); !ok) return std::move(ok).error();
      }
      const BlockFlow::Part& part = flow_.parts[target.block];
      for (std::uint32_t i = 0; i < target.operand_count; ++i) {
        slots[part.inputs[i]] = outputs[target.first_operand + i];
      }
      auto inputs = inputs_of(part, slots);
      if (!inputs) return std::move(inputs).error();
      outputs.clear();  // releases the tensors that a block may write again
      PlannedRegion& block = *blocks_[target.block];
      auto made = block.run(frame, around, *inputs, given[target.block].take_spare());
      if (!made) return made;
      // A symbol that a block binds has its value in the blocks after it.
      around.take(block.binder());
      outputs = *std::move(made);
      given[target.block].keep(outputs);
      const std::size_t passed = outputs.size() - part.outputs.size();
      for (std::size_t i = 0; i < part.outputs.size(); ++i) {
        slots[part.outputs[i]] = outputs[passed + i];
      }
      outputs.resize(passed);
      current = target.block;
      end = &part.end;
    }
    return outputs;
  }

  Result<Tensors> inputs_of(const BlockFlow::Part& part, const Tensors& slots) const {
    Tensors inputs;
    for (const BlockFlow::Slot slot : part.inputs) {
      // In a module that was not verified, a block may be reached without what it reads.
      if (!slots[slot].defined()) {
        return Error{diag::kUndefinedValue, "a block is reached without a value that it reads"};
      }
      inputs.push_back(slots[slot]);
    }
    return inputs;
  }

  Result<void> check_result(std::size_t number, const Tensor& tensor, Binder& binder) const {
    const TensorType* const declared = flow_.results[number]->held_type();
    const auto fit = fits(declared, {tensor.dtype(), tensor.shape()}, binder,
                          {.kind = DimPlace::Kind::kResult, .number = number, .name = "blocks"});
    if (fit) return {};
    return Error{
        diag::kResultMismatch,
        fmt::format("value {} that the blocks after '{}' return is {} [{}], declared is {}{}",
                    number, flow_.begin.op->info().mnemonic, name_of(tensor.dtype()),
                    fmt::join(tensor.shape(), ", "),
                    declared == nullptr ? "no tensor" : declared->spelling(), fit.error().message)};
  }

  const BlockFlow& flow_;
  std::size_t captured_;
  std::vector<std::unique_ptr<PlannedRegion>> blocks_;
  std::unique_ptr<Binder> around_;  // of the current run; kept for its memory
};

}  // namespace

std::unique_ptr<PlanNode> block_flow_node(const PlannedStep& step, const ControlStep& control,
                                          const PlanOptions& options,
                                          const PlanResources& resources) {
  return std::make_unique<BlockFlowNode>(step, control, options, resources);
}

}  // namespace mir
