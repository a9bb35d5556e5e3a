// Structured control flow: regions as plans of their own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "eval/parameters.hpp"
#include "plan/execution_plan.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"
#include "plan/run_symbols.hpp"

namespace mir {

namespace {

using Tensors = std::vector<Tensor>;

/// A region with its plan. Its inputs are the arguments, then the captured values.
class PlannedRegion {
 public:
  PlannedRegion(const Op& op, const Schedule& schedule, const PlanOptions& options,
                const PlanResources& resources)
      : op_(op),
        schedule_(schedule),
        symbols_(schedule),
        binder_(schedule.module().context(), {}),
        constants_(schedule.values().size()) {
    IRContext& context = schedule.module().context();
    for (ValueIndex index = 0; index < constants_.size(); ++index) {
      const ScheduledValue& scheduled = schedule.values()[index];
      if (scheduled.role != ValueRole::kConstant) continue;
      auto constant = constant_tensor(*scheduled.value, context);
      if (constant) {
        constants_[index] = *std::move(constant);
      } else if (!refusal_) {
        refusal_ = std::move(constant).error();
      }
    }
    if (refusal_) return;
    PlanResources own = resources;
    own.constants = constants_;
    plan_.emplace(ExecutionPlan::create(schedule, options, own));
  }

  /// What the end of the region passes. `outputs` are tensors that nothing needs any more: the
  /// results are written there if nobody else holds them.
  Result<Tensors> run(const Frame& frame, const Tensors& inputs, Tensors outputs) {
    if (refusal_) return *refusal_;
    if (auto failure = bind(frame, inputs)) return in_region(*std::move(failure));
    plan_->give_back(std::move(outputs));
    EvalEnvironment environment = frame.environment;
    environment.dims = &binder_.bindings();
    const PlanRun run{.inputs = inputs,
                      .context = &frame.context,
                      .parameters = frame.run->parameters,
                      .environment = environment,
                      .binder = &binder_,
                      .stop = frame.run->stop,
                      .iterations_left = frame.run->iterations_left};
    auto result = plan_->run(run);
    if (auto* failure = std::get_if<PlanFailure>(&result)) return in_region(std::move(*failure));
    return std::get<Tensors>(std::move(result));
  }

 private:
  std::optional<PlanFailure> bind(const Frame& frame, const Tensors& inputs) {
    binder_.restart_within(frame.binder, [&](Symbol symbol) { return symbols_.is_own(symbol); });
    if (auto ok = check(inputs); !ok) return PlanFailure{std::nullopt, std::move(ok).error()};
    auto problem = symbols_.bind(binder_, *frame.environment.caches, schedule_.module().context());
    if (problem) return PlanFailure{problem->step, std::move(problem->error)};
    return plan_->bind(binder_.bindings());
  }

  /// What was verified may have had extents that only a run knows.
  Result<void> check(const Tensors& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& value = *schedule_.values()[schedule_.inputs()[i]].value;
      const TensorExtents found{inputs[i].dtype(), inputs[i].shape()};
      const auto fit = fits(value.tensor_type(), found, binder_,
                            {.kind = DimPlace::Kind::kInput, .number = i, .value = &value});
      if (fit) continue;
      return Error{DiagCode::kResultMismatch,
                   fmt::format("value {} of a region of '{}' is {} [{}], declared is {}{}", i,
                               op_.info().mnemonic, name_of(inputs[i].dtype()),
                               fmt::join(inputs[i].shape(), ", "),
                               value.type() == nullptr ? "no tensor" : value.type()->spelling(),
                               fit.error().message)};
    }
    return {};
  }

  Error in_region(PlanFailure failure) const {
    if (!failure.step || failure.error.code == DiagCode::kCancelled)
      return std::move(failure.error);
    const Op& op = *schedule_.steps()[*failure.step].op;
    return {failure.error.code, fmt::format("in a region of '{}', at '{}': {}", op_.info().mnemonic,
                                            short_name(op), failure.error.message)};
  }

  const Op& op_;
  const Schedule& schedule_;
  RunSymbols symbols_;
  Binder binder_;  // of the current run; kept for its memory
  Tensors constants_;
  std::optional<Error> refusal_;  // why the region has no plan
  std::optional<ExecutionPlan> plan_;
};

/// Counts an iteration of a loop. An error if the run must end.
Result<void> begin_iteration(const Op& op, const PlanRun& run) {
  if (run.stop.stop_requested()) {
    return Error{DiagCode::kCancelled,
                 fmt::format("the run was stopped in '{}'", op.info().mnemonic)};
  }
  if (run.iterations_left == nullptr) return {};
  if (*run.iterations_left == 0) {
    return Error{DiagCode::kLimitExceeded,
                 fmt::format("'{}' reached the limit of iterations", op.info().mnemonic)};
  }
  --*run.iterations_left;
  return {};
}

/// The one element of a condition or bound.
Result<std::int64_t> one_element(const Op& op, const Tensor& tensor) {
  if (tensor.elements() == 1) {
    if (tensor.dtype() == DType::kBool) return tensor.as<std::uint8_t>().front() != 0 ? 1 : 0;
    if (tensor.dtype() == DType::kInt32) return tensor.as<std::int32_t>().front();
    if (tensor.dtype() == DType::kInt64) return tensor.as<std::int64_t>().front();
  }
  return Error{DiagCode::kShapeMismatch,
               fmt::format("'{}' takes one Bool, Int32 or Int64, found {} [{}]", op.info().mnemonic,
                           name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "))};
}

class ControlNode : public PlanNode {
 public:
  ControlNode(const PlannedStep& step, const ControlStep& control, const PlanOptions& options,
              const PlanResources& resources)
      : PlanNode(step), op_(*step.op), captured_(control.captured) {
    for (const Schedule& region : control.regions) {
      regions_.push_back(std::make_unique<PlannedRegion>(op_, region, options, resources));
    }
  }

  Result<void> run(Frame& frame) const override {
    Tensors values;
    for (const PlanValueIndex index : operands()) {
      auto tensor = frame.tensor(index);
      if (!tensor) return std::move(tensor).error();
      values.push_back(*std::move(tensor));
    }
    auto computed = run_regions(frame, values);
    if (!computed) return std::move(computed).error();
    return deliver(op_, *this, *std::move(computed), frame);
  }

  bool looks_up_parameters() const override { return true; }
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
      return Error{DiagCode::kShapeMismatch,
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
      if (last - index <= step) break;  // the sum could overflow
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
