// Structured control flow: regions as plans of their own.
#include <fmt/format.h>

#include <utility>

#include "mir/codes/shapes.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"
#include "plan/nodes/planned_region.hpp"

namespace mir {

namespace {

class ControlNode : public PlanNode {
 public:
  ControlNode(const PlannedStep& step, const ControlStep& control, const PlanOptions& options,
              const PlanResources& resources)
      : PlanNode(step),
        op_(*step.op),
        captured_(control.captured),
        regions_(plan_parts(control, options, resources)) {}

  Result<void> run(Frame& frame) const override {
    const auto values = operands_of(*this, frame);
    if (!values) return values.error();
    auto computed = run_regions(frame, *values);
    if (!computed) return std::move(computed).error();
    return deliver(op_, *this, *std::move(computed), frame);
  }

  bool looks_up_parameters() const override { return true; }
  bool runs_plans() const override { return true; }
  std::string name() const override { return short_name(op_); }

 protected:
  /// `values`: the operands of the op, then the captured values.
  virtual Result<Tensors> run_regions(const Frame& frame, const Tensors& values) const = 0;

  const Op& op() const { return op_; }
  std::span<const Tensor> captured(const Tensors& values) const {
    return std::span(values).last(captured_);
  }
  PlannedRegion& region(std::size_t number) const { return *regions_[number]; }

 private:
  const Op& op_;
  std::size_t captured_;
  std::vector<std::unique_ptr<PlannedRegion>> regions_;
};

class CallNode final : public ControlNode {
 public:
  using ControlNode::ControlNode;

  Result<Tensors> run_regions(const Frame& frame, const Tensors& values) const override {
    return region(0).run(frame, values, {});
  }
};

class IfNode final : public ControlNode {
 public:
  using ControlNode::ControlNode;

  Result<Tensors> run_regions(const Frame& frame, const Tensors& values) const override {
    const auto condition = one_element(op(), values[0]);
    if (!condition) return condition.error();
    const auto inner = captured(values);
    return region(*condition != 0 ? 0 : 1).run(frame, {inner.begin(), inner.end()}, {});
  }
};

/// Tensors that a loop hands from one run of its regions to the next.
class Carried {
 public:
  /// `index_count`: how many inputs come before the carried ones.
  Carried(std::size_t index_count, std::span<const Tensor> first, std::span<const Tensor> captured)
      : index_count_(index_count), count_(first.size()), inputs_(index_count) {
    inputs_.insert(inputs_.end(), first.begin(), first.end());
    inputs_.insert(inputs_.end(), captured.begin(), captured.end());
  }

  Tensors& inputs() { return inputs_; }
  /// Tensors of the run before the last one.
  Tensors take_spare() { return std::exchange(spare_, {}); }
  void set(Tensors values) {
    for (std::size_t i = 0; i < count_; ++i) std::swap(inputs_[index_count_ + i], values[i]);
    spare_ = std::move(values);
  }
  Tensors values() const {
    const auto carried = std::span(inputs_).subspan(index_count_, count_);
    return {carried.begin(), carried.end()};
  }

 private:
  std::size_t index_count_, count_;
  Tensors inputs_, spare_;
};

class ForNode final : public ControlNode {
 public:
  using ControlNode::ControlNode;

  Result<Tensors> run_regions(const Frame& frame, const Tensors& values) const override {
    std::int64_t bounds[3] = {};
    for (std::size_t i = 0; i < std::size(bounds); ++i) {
      const auto bound = one_element(op(), values[i]);
      if (!bound) return bound.error();
      bounds[i] = *bound;
    }
    const auto [first, last, step] = bounds;
    if (step <= 0) {
      return Error{diag::kShapeMismatch,
                   fmt::format("the step of '{}' is {}, expected a number above 0",
                               op().info().mnemonic, step)};
    }
    Carried carried(1, std::span(values).subspan(3, op().result_count()), captured(values));
    for (std::int64_t index = first; index < last; index += step) {
      if (auto ok = begin_iteration(op(), *frame.run); !ok) return std::move(ok).error();
      auto counter = make_index(values[0], index);
      if (!counter) return std::move(counter).error();
      carried.inputs()[0] = *std::move(counter);
      auto passed = region(0).run(frame, carried.inputs(), carried.take_spare());
      if (!passed) return std::move(passed).error();
      carried.set(*std::move(passed));
      // Their sum could overflow, and so could the signed distance.
      const auto distance = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(index);
      if (distance <= static_cast<std::uint64_t>(step)) break;
    }
    return carried.values();
  }

 private:
  static Result<Tensor> make_index(const Tensor& like, std::int64_t index) {
    auto tensor = Tensor::allocate(like.dtype(), like.shape());
    if (!tensor) return tensor;
    if (like.dtype() == DType::kInt32) {
      tensor->as_mutable<std::int32_t>().front() = static_cast<std::int32_t>(index);
    } else {
      tensor->as_mutable<std::int64_t>().front() = index;
    }
    return tensor;
  }
};

class WhileNode final : public ControlNode {
 public:
  using ControlNode::ControlNode;

  Result<Tensors> run_regions(const Frame& frame, const Tensors& values) const override {
    const auto inner = captured(values);
    Carried before(0, std::span(values).first(op().operand_count()), inner);
    std::optional<Carried> after;
    while (true) {
      if (auto ok = begin_iteration(op(), *frame.run); !ok) return std::move(ok).error();
      Tensors spare = after ? after->take_spare() : Tensors();
      spare.insert(spare.begin(), Tensor());
      auto decided = region(0).run(frame, before.inputs(), std::move(spare));
      if (!decided) return std::move(decided).error();
      const auto goes_on = one_element(op(), decided->front());
      if (!goes_on) return goes_on.error();
      decided->erase(decided->begin());
      if (*goes_on == 0) return decided;
      if (after) {
        after->set(*std::move(decided));
      } else {
        after.emplace(0, *decided, inner);
      }
      auto passed = region(1).run(frame, after->inputs(), before.take_spare());
      if (!passed) return std::move(passed).error();
      before.set(*std::move(passed));
    }
  }
};

}  // namespace

std::unique_ptr<PlanNode> control_node(const PlannedStep& step, const ControlStep& control,
                                       const PlanOptions& options, const PlanResources& resources) {
  if (control.flow) return block_flow_node(step, control, options, resources);
  if (step.op->is(OpId::kCfIf)) {
    return std::make_unique<IfNode>(step, control, options, resources);
  }
  if (step.op->is(OpId::kCfFor)) {
    return std::make_unique<ForNode>(step, control, options, resources);
  }
  if (step.op->is(OpId::kCfWhile)) {
    return std::make_unique<WhileNode>(step, control, options, resources);
  }
  return std::make_unique<CallNode>(step, control, options, resources);
}

}  // namespace mir
