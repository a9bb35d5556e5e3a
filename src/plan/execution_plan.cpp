// Creates, binds and runs a plan, and reuses the memory of outputs that are given back.
#include "plan/execution_plan.hpp"

#include <algorithm>

#include "plan/folding.hpp"
#include "plan/plan_builder.hpp"
#include "plan/plan_execution.hpp"
#include "plan/plan_state.hpp"

namespace mir {

/// Inputs are those of each run, parameters that are not planned those of each step.
void ExecutionPlan::State::find_whole_tensors() {
  whole.assign(parts.values.size(), nullptr);
  for (PlanValueIndex index = 0; index < parts.values.size(); ++index) {
    const PlanValue& value = parts.values[index];
    if (value.home == Home::kTensor) whole[index] = &made[index];
    // Folded results may have another order of dimensions in memory.
    const bool is_fixed = value.home == Home::kConstant || value.home == Home::kParameter;
    if (is_fixed && fixed[index].defined() && value.is_row_major()) whole[index] = &fixed[index];
  }
}

void ExecutionPlan::State::set_inputs(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) whole[schedule.inputs()[i]] = &inputs[i];
  storage.set_inputs(parts, inputs);
}

/// In the tensor of the run before where its receiver has let go of it.
Result<void> ExecutionPlan::State::set_output(std::size_t number, fast::Context& context) {
  const TensorRef& value = storage.tensors()[schedule.outputs()[number]];
  Tensor& tensor = handed_out[number];
  const bool fits = tensor.dtype() == value.dtype &&
                    std::ranges::equal(tensor.shape(), value.shape()) && tensor.is_sole_owner();
  if (fits) {
    write(value, tensor, context);
    return {};
  }
  tensor = Tensor();
  auto copy = to_tensor(value, context);
  if (!copy) return std::move(copy).error();
  tensor = *std::move(copy);
  return {};
}

Result<std::vector<Tensor>> ExecutionPlan::State::outputs(fast::Context& context) {
  handed_out.resize(schedule.outputs().size());
  std::vector<Tensor> outputs;
  outputs.reserve(handed_out.size());
  for (std::size_t number = 0; number < handed_out.size(); ++number) {
    const ValueIndex index = schedule.outputs()[number];
    if (!parts.values[index].is_planned) {
      outputs.push_back(*whole[index]);
      continue;
    }
    if (auto ok = set_output(number, context); !ok) return std::move(ok).error();
    outputs.push_back(handed_out[number]);
  }
  return outputs;
}

ExecutionPlan::ExecutionPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutionPlan::ExecutionPlan(ExecutionPlan&&) noexcept = default;
ExecutionPlan& ExecutionPlan::operator=(ExecutionPlan&&) noexcept = default;
ExecutionPlan::~ExecutionPlan() = default;

ExecutionPlan ExecutionPlan::create(const Schedule& schedule, const PlanOptions& options,
                                    const PlanResources& resources) {
  PlanParts parts = PlanBuilder(schedule, options, resources).build();
  std::vector<Tensor> fixed(parts.values.size());
  for (ValueIndex index = 0; index < schedule.values().size(); ++index) {
    const PlanValue& value = parts.values[index];
    if (value.home == Home::kConstant) fixed[index] = resources.constants[index];
    if (value.home == Home::kParameter && value.is_planned) {
      fixed[index] = resources.parameters->table().at(schedule.values()[index].value->symbol());
    }
  }
  const bool folds = options.kernels == KernelSet::kFast && options.fuses;
  FoldedNodes folded;
  if (folds) folded = fold_constants(parts, fixed, schedule, options, resources);
  std::vector<std::string> names;
  for (const auto& node : parts.nodes) names.push_back(node->name());
  const std::size_t made = parts.has_made_values() ? parts.values.size() : 0;
  // Without fusion steps are observed, their operands too.
  PlanStorage storage(schedule, parts, folds);
  ExecutionPlan plan(std::make_unique<State>(State{.schedule = schedule,
                                                   .kernels = options.kernels,
                                                   .parts = std::move(parts),
                                                   .folded = folded,
                                                   .storage = std::move(storage),
                                                   .uses = ParameterUses(schedule),
                                                   .names = std::move(names),
                                                   .fixed = std::move(fixed),
                                                   .made = std::vector<Tensor>(made),
                                                   .whole = {},
                                                   .handed_out = {}}));
  plan.state_->find_whole_tensors();
  return plan;
}

namespace {

/// The step that makes a value; no value for inputs and values that the plan adds.
std::optional<std::size_t> step_of_result(const Schedule& schedule, PlanValueIndex value) {
  for (std::size_t i = 0; i < schedule.steps().size(); ++i) {
    const Step& step = schedule.steps()[i];
    const std::size_t count = step.result_count;
    if (value >= step.first_result && value < step.first_result + count) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PlanFailure> ExecutionPlan::bind(const DimBindings& bindings) {
  auto bound = state_->storage.bind(state_->parts, state_->fixed, bindings);
  if (bound) return std::nullopt;
  const auto value = state_->storage.refused();
  return PlanFailure{value ? step_of_result(state_->schedule, *value) : std::nullopt,
                     std::move(bound).error()};
}

void ExecutionPlan::give_back(std::vector<Tensor> outputs) {
  outputs.resize(state_->schedule.outputs().size());
  state_->handed_out = std::move(outputs);
}

std::variant<std::vector<Tensor>, PlanFailure> ExecutionPlan::run(const PlanRun& run) {
  return PlanExecution(*this, run).execute();
}

KernelSet ExecutionPlan::kernels() const {
  return state_->kernels;
}

const std::vector<std::string>& ExecutionPlan::node_names() const {
  return state_->names;
}

const FoldedNodes& ExecutionPlan::folded() const {
  return state_->folded;
}

std::uint64_t ExecutionPlan::lower_bound() const {
  return state_->storage.lower_bound();
}

std::uint64_t ExecutionPlan::planned_bytes() const {
  return state_->storage.planned_bytes();
}

}  // namespace mir
