// Plans and runs the regions of control flow ops as schedules of their own.
#include "plan/nodes/planned_region.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "eval/parameters.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

PlannedRegion::PlannedRegion(const Schedule& schedule, const PlanOptions& options,
                             const PlanResources& resources)
    : schedule_(schedule),
      symbols_(schedule),
      binder_(schedule.module().context(), {}),
      constants_(schedule.values().size()) {
  for (ValueIndex index = 0; index < constants_.size(); ++index) {
    const ScheduledValue& scheduled = schedule.values()[index];
    if (scheduled.role != ValueRole::kConstant) continue;
    auto constant = constant_tensor(*scheduled.value);
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

Result<Tensors> PlannedRegion::run(const Frame& frame, const Binder& around, const Tensors& inputs,
                                   Tensors outputs) {
  if (refusal_) return *refusal_;
  if (auto failure = bind(frame, around, inputs)) return in_region(*frame.run, *std::move(failure));
  plan_->give_back(std::move(outputs));
  EvalEnvironment environment = frame.environment;
  environment.dims = &binder_.bindings();
  const PlanRun run{.inputs = inputs,
                    .context = &frame.context,
                    .parameters = frame.run->parameters,
                    .environment = environment,
                    .binder = &binder_,
                    .stop = frame.run->stop,
                    .iterations_left = frame.run->iterations_left,
                    .failed_in_regions = frame.run->failed_in_regions,
                    .timed = frame.run->timed};
  auto result = plan_->run(run);
  if (auto* failure = std::get_if<PlanFailure>(&result)) {
    return in_region(*frame.run, std::move(*failure));
  }
  return std::get<Tensors>(std::move(result));
}

std::optional<PlanFailure> PlannedRegion::bind(const Frame& frame, const Binder& around,
                                               const Tensors& inputs) {
  binder_.restart_within(around, [&](Symbol symbol) { return symbols_.is_own(symbol); });
  if (auto ok = check(inputs); !ok) return PlanFailure{std::nullopt, std::move(ok).error()};
  auto problem = symbols_.bind(binder_, *frame.environment.caches, schedule_.module().context());
  if (problem) return PlanFailure{problem->step, std::move(problem->error)};
  return plan_->bind(binder_.bindings());
}

/// Checks the inputs against their types, whose extents verification may not have known.
Result<void> PlannedRegion::check(const Tensors& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = *schedule_.values()[schedule_.inputs()[i]].value;
    const TensorExtents found{inputs[i].dtype(), inputs[i].shape()};
    const auto fit = fits(value.held_type(), found, binder_,
                          {.kind = DimPlace::Kind::kInput, .number = i, .value = &value});
    if (fit) continue;
    return Error{diag::kResultMismatch,
                 fmt::format("value {} of {} is {} [{}], declared is {}{}", i, schedule_.title(),
                             name_of(inputs[i].dtype()), fmt::join(inputs[i].shape(), ", "),
                             value.type() == nullptr ? "no tensor" : value.type()->spelling(),
                             fit.error().message)};
  }
  return {};
}

Error PlannedRegion::in_region(const PlanRun& run, PlanFailure failure) const {
  const bool is_placed = failure.step && failure.error.code != diag::kCancelled;
  if (is_placed && run.failed_in_regions != nullptr) {
    run.failed_in_regions->push_back({&schedule_, *failure.step});
  }
  return std::move(failure.error);
}

std::vector<std::unique_ptr<PlannedRegion>> plan_parts(const ControlStep& control,
                                                       const PlanOptions& options,
                                                       const PlanResources& resources) {
  std::vector<std::unique_ptr<PlannedRegion>> parts;
  for (const Schedule& part : control.regions) {
    parts.push_back(std::make_unique<PlannedRegion>(part, options, resources));
  }
  return parts;
}

Result<Tensors> operands_of(const PlanNode& node, const Frame& frame) {
  Tensors values;
  for (const PlanValueIndex index : node.operands()) {
    auto tensor = frame.tensor(index);
    if (!tensor) return std::move(tensor).error();
    values.push_back(*std::move(tensor));
  }
  return values;
}

Result<void> begin_iteration(const Op& op, const PlanRun& run) {
  if (run.stop.stop_requested()) {
    return Error{diag::kCancelled, fmt::format("the run was stopped in '{}'", op.info().mnemonic)};
  }
  if (run.iterations_left == nullptr) return {};
  if (*run.iterations_left == 0) {
    return Error{diag::kLimitExceeded,
                 fmt::format("'{}' reached the limit of iterations", op.info().mnemonic)};
  }
  --*run.iterations_left;
  return {};
}

Result<std::int64_t> one_element(const Op& op, const Tensor& tensor) {
  if (tensor.elements() == 1) {
    if (tensor.dtype() == DType::kBool) return tensor.as<std::uint8_t>().front() != 0 ? 1 : 0;
    if (tensor.dtype() == DType::kInt32) return tensor.as<std::int32_t>().front();
    if (tensor.dtype() == DType::kInt64) return tensor.as<std::int64_t>().front();
  }
  return Error{diag::kShapeMismatch,
               fmt::format("'{}' takes one Bool, Int32 or Int64, found {} [{}]", op.info().mnemonic,
                           name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "))};
}

}  // namespace mir
