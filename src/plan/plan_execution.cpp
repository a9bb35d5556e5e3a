// Runs the nodes of a plan in order: acquires parameters, binds phases and takes times.
#include "plan/plan_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/parameters.hpp"
#include "mir/codes/runs.hpp"
#include "plan/plan_state.hpp"

namespace mir {

PlanExecution::PlanExecution(ExecutionPlan& plan, const PlanRun& run)
    : state_(*plan.state_),
      run_(run),
      frame_{.values = state_.parts.values,
             .tensors = state_.storage.tensors(),
             .whole = state_.whole,
             .made = state_.made,
             .context = *run.context,
             .environment = run.environment,
             .binder = *run.binder,
             .run = &run,
             .begin_phase = [this](std::size_t step) { return begin_phase(step); }} {
  state_.set_inputs(run.inputs);
}

PlanExecution::~PlanExecution() {
  release_parameters();
  if (has_outputs_) run_.parameters->release(state_.uses.outputs(), run_.is_last);
  for (Tensor& made : state_.made) {
    if (made.defined()) made = Tensor();
  }
}

std::variant<std::vector<Tensor>, PlanFailure> PlanExecution::execute() {
  if (auto failure = begin()) return *std::move(failure);
  if (auto failure = compute(state_.schedule.steps().size())) return *std::move(failure);
  return finish();
}

std::optional<PlanFailure> PlanExecution::begin() {
  if (auto ok = run_.parameters->acquire(state_.uses.outputs()); !ok) {
    return PlanFailure{std::nullopt, std::move(ok).error()};
  }
  has_outputs_ = true;
  for (const ValueIndex index : state_.schedule.outputs()) {
    const ScheduledValue& scheduled = state_.schedule.values()[index];
    if (scheduled.role != ValueRole::kParameter || state_.parts.values[index].is_planned) continue;
    state_.whole[index] = &run_.parameters->table().at(scheduled.value->symbol());
  }
  return std::nullopt;
}

std::optional<PlanFailure> PlanExecution::compute(std::size_t end) {
  for (; computed_ < end; ++computed_) {
    release();
    if (auto failure = compute_step(computed_)) return failure;
  }
  return std::nullopt;
}

/// Fused steps are computed with the last of them.
std::optional<PlanFailure> PlanExecution::compute_step(std::size_t step) {
  const auto& nodes = state_.parts.nodes;
  const std::size_t first = next_node_;
  for (; next_node_ < nodes.size() && nodes[next_node_]->step() <= step; ++next_node_) {
    if (auto ok = run_node(next_node_); !ok) {
      return PlanFailure{nodes[next_node_]->step(), std::move(ok).error()};
    }
  }
  if (run_.observe != nullptr) {
    if (auto ok = show(step); !ok) return PlanFailure{step, std::move(ok).error()};
  }
  if (run_.done && next_node_ > first) run_.done(step + 1);
  return std::nullopt;
}

Result<void> PlanExecution::run_node(std::size_t number) {
  const PlanNode& node = *state_.parts.nodes[number];
  if (run_.stop.stop_requested()) {
    return Error{diag::kCancelled, fmt::format("the run was stopped after {} of {} steps",
                                               node.step(), state_.schedule.steps().size())};
  }
  if (node.looks_up_parameters()) {
    if (auto ok = acquire(node); !ok) return ok;
  }
  return run_.timed && !node.runs_plans() ? run_timed(number) : node.run(frame_);
}

/// Also asks the caller, which may limit the memory of values.
Result<void> PlanExecution::begin_phase(std::size_t step) {
  const auto& steps = state_.parts.phase_steps;
  const auto found = std::ranges::lower_bound(steps, step);
  if (found == steps.end() || *found != step) return {};
  const auto phase = static_cast<std::uint16_t>(found - steps.begin() + 1);
  auto bound = state_.storage.bind(state_.parts, state_.fixed, run_.binder->bindings(), phase);
  return bound && run_.decided ? run_.decided() : bound;
}

Result<void> PlanExecution::run_timed(std::size_t number) {
  const PlanNode& node = *state_.parts.nodes[number];
  const auto begin = KernelTiming::Clock::now();
  if (auto ok = node.run(frame_); !ok) return ok;
  const auto end = KernelTiming::Clock::now();
  run_.timed({.schedule = &state_.schedule,
              .step = node.step(),
              .kernel = state_.names[number],
              .begin = begin,
              .end = end,
              .work = node.work(frame_)});
  return {};
}

/// The parameters that a node looks up when it runs.
Result<void> PlanExecution::acquire(const PlanNode& node) {
  release_parameters();
  if (auto ok = run_.parameters->acquire(state_.uses.of(node.step())); !ok) return ok;
  acquired_ = node.step();
  for (const PlanValueIndex index : node.operands()) {
    const PlanValue& value = state_.parts.values[index];
    if (value.home != Home::kParameter || value.is_planned) continue;
    const Symbol symbol = state_.schedule.values()[index].value->symbol();
    state_.whole[index] = &run_.parameters->table().at(symbol);
  }
  return {};
}

void PlanExecution::release_parameters() {
  if (!acquired_) return;
  const auto all = state_.uses.of(*acquired_), last = state_.uses.last_of(*acquired_);
  run_.parameters->release(all.first(all.size() - last.size()), false);
  run_.parameters->release(last, run_.is_last);
  acquired_.reset();
}

void PlanExecution::release() {
  release_parameters();
  if (state_.made.empty()) return;
  for (; released_ < computed_; ++released_) {
    const Step& step = state_.schedule.steps()[released_];
    for (const ValueIndex index : state_.schedule.releases(step)) {
      if (state_.parts.values[index].home == Home::kTensor) state_.made[index] = Tensor();
    }
  }
}

std::variant<std::vector<Tensor>, PlanFailure> PlanExecution::finish() {
  const auto& nodes = state_.parts.nodes;
  const std::size_t steps = state_.schedule.steps().size();
  // The last steps may have been computed once and for all.
  const std::size_t done = nodes.empty() ? 0 : nodes.back()->step() + 1;
  if (run_.done && done < steps) run_.done(steps);
  auto outputs = state_.outputs(frame_.context);
  if (!outputs) return PlanFailure{std::nullopt, std::move(outputs).error()};
  return *std::move(outputs);
}

Result<Tensor> PlanExecution::result(std::size_t step, std::uint32_t number) const {
  return frame_.tensor(state_.schedule.steps()[step].first_result + number);
}

Result<void> PlanExecution::replace_result(std::size_t step, std::uint32_t number,
                                           const Tensor& tensor) {
  const Step& replaced = state_.schedule.steps()[step];
  const PlanValueIndex index = replaced.first_result + number;
  const TensorExtents is = frame_.extents(index);
  if (tensor.dtype() != is.dtype || !std::ranges::equal(tensor.shape(), is.shape)) {
    return Error{diag::kResultMismatch, "the tensor does not fit the value it replaces"};
  }
  frame_.set(index, tensor);
  const Symbol cache = cache_of(*replaced.op);
  if (cache && state_.parts.values[index].home != Home::kCache) {
    run_.environment.caches->replace(cache, number, tensor.bytes());
  }
  return {};
}

Result<void> PlanExecution::show(std::size_t number) {
  const Step& step = state_.schedule.steps()[number];
  std::vector<Tensor> operands, results;
  for (const ValueIndex index : state_.schedule.operands(step)) {
    auto tensor = frame_.tensor(index);
    if (!tensor) return std::move(tensor).error();
    operands.push_back(*std::move(tensor));
  }
  for (std::uint32_t i = 0; i < step.op->result_count(); ++i) {
    auto tensor = result(number, i);
    if (!tensor) return std::move(tensor).error();
    results.push_back(*std::move(tensor));
  }
  const std::vector<Tensor> shown = results;
  if (auto ok = run_.observe(number, operands, results); !ok) return ok;
  for (std::uint32_t i = 0; i < step.op->result_count(); ++i) {
    if (results[i].bytes().data() == shown[i].bytes().data()) continue;
    if (auto ok = replace_result(number, i, results[i]); !ok) return ok;
  }
  return {};
}

}  // namespace mir
