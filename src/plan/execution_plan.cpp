#include "plan/execution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mir/module.hpp"
#include "plan/arena.hpp"
#include "plan/folding.hpp"
#include "plan/layout.hpp"
#include "plan/plan_builder.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kNoPlace = static_cast<std::uint32_t>(-1);

}  // namespace

struct ExecutionPlan::State {
  State(const Schedule& of, PlanParts made) : schedule(of), parts(std::move(made)) {}

  const Schedule& schedule;
  PlanParts parts;
  std::vector<std::string> names;       // of the nodes
  std::vector<Tensor> constants;        // by slot; undefined for slots of other homes
  std::vector<Tensor> parameters;       // likewise
  std::vector<Dim> dims;                // each once
  std::vector<std::uint32_t> dim_of;    // for each entry of parts.dims
  std::vector<std::uint32_t> place_of;  // values of home kOwn: their number among lifetimes
  Placements placements;
  std::vector<std::int64_t> extents;  // of dims, as bound
  std::vector<std::int64_t> asked;    // of dims, as the last bind() asked for
  std::vector<TensorRef> tensors;
  std::vector<Tensor> handed_out;  // by the run before
  fast::LargePages block;
  std::uint64_t planned = 0;
  FoldedNodes folded;
  bool bound = false;

  void collect_dims();
  void find_lifetimes(bool overwrites);
  std::optional<std::uint32_t> overwritten_place(std::uint32_t node,
                                                 std::span<const std::uint32_t> last_readers) const;
  bool is_laid_out_alike(PlanSlot a, PlanSlot b) const;
  PlanSlot owner_of(PlanSlot slot) const {
    const PlanValue& value = parts.values[slot];
    return value.home == Home::kView ? value.base : slot;
  }
  void keep_for_observers();
  Result<void> evaluate_dims(const DimBindings& bindings);
  Result<void> set_extents();
  Result<void> place_values();
  void set_fixed_addresses();
  void set_inputs(std::span<const Tensor> inputs);
  Result<void> set_output(std::size_t number, fast::Context& context);
  Result<std::vector<Tensor>> outputs(fast::Context& context);
};

void ExecutionPlan::State::collect_dims() {
  std::map<std::pair<const DimExpr*, std::int64_t>, std::uint32_t> numbers;
  for (const Dim dim : parts.dims) {
    const auto key = std::pair(dim.expr(), dim.is_constant() ? dim.constant() : 0);
    const auto [found, is_new] = numbers.try_emplace(key, static_cast<std::uint32_t>(dims.size()));
    if (is_new) dims.push_back(dim);
    dim_of.push_back(found->second);
  }
}

/// A place is alive from the node that writes it to the last that reads it or a view of it. Values
/// inside fused nodes have none. A result may take over the place of an operand that ends there.
void ExecutionPlan::State::find_lifetimes(bool overwrites) {
  std::vector<std::uint32_t> last_readers(parts.values.size(), 0);  // by what has the place
  const auto end = static_cast<std::uint32_t>(parts.nodes.size());
  for (std::uint32_t node = 0; node < end; ++node) {
    for (const PlanSlot slot : parts.nodes[node]->operands()) last_readers[owner_of(slot)] = node;
  }
  for (const SlotIndex slot : schedule.outputs()) last_readers[owner_of(slot)] = end;
  place_of.assign(parts.values.size(), kNoPlace);
  const auto touch = [&](PlanSlot slot, std::uint32_t node) {
    const PlanSlot owner = owner_of(slot);
    if (parts.values[owner].home != Home::kOwn) return;
    if (place_of[owner] == kNoPlace) {
      place_of[owner] = static_cast<std::uint32_t>(placements.values().size());
      placements.add({.first = node, .last = node});
    }
    placements.values()[place_of[owner]].last = node;
  };
  for (std::uint32_t node = 0; node < end; ++node) {
    for (const PlanSlot slot : parts.nodes[node]->operands()) touch(slot, node);
    if (const auto place = overwrites ? overwritten_place(node, last_readers) : std::nullopt) {
      place_of[parts.nodes[node]->results().front()] = *place;
    }
    for (const PlanSlot slot : parts.nodes[node]->results()) touch(slot, node);
  }
  for (const SlotIndex slot : schedule.outputs()) touch(slot, end);
  keep_for_observers();
}

/// Who observes a run is shown each step before a later one is computed. No node makes a view, so
/// without this the place of a view that nothing reads could hold another value by then.
void ExecutionPlan::State::keep_for_observers() {
  std::uint32_t computed = 0;
  for (std::uint32_t step = 0; step < schedule.steps().size(); ++step) {
    while (computed < parts.nodes.size() && parts.nodes[computed]->step() <= step) ++computed;
    const Step& shown = schedule.steps()[step];
    for (std::uint32_t i = 0; i < shown.op->result_count() && computed != 0; ++i) {
      const PlanValue& value = parts.values[shown.first_result + i];
      if (value.home != Home::kView || place_of[value.base] == kNoPlace) continue;
      std::uint32_t& last = placements.values()[place_of[value.base]].last;
      last = std::max(last, computed - 1);
    }
  }
}

/// The place of an operand that the node writes its result to.
std::optional<std::uint32_t> ExecutionPlan::State::overwritten_place(
    std::uint32_t node, std::span<const std::uint32_t> last_readers) const {
  const auto& operands = parts.nodes[node]->operands();
  if (parts.nodes[node]->results().size() != 1) return std::nullopt;
  const PlanSlot result = parts.nodes[node]->results().front();
  if (parts.values[result].home != Home::kOwn) return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const PlanSlot owner = owner_of(operands[i]);
    const bool may =
        parts.nodes[node]->may_overwrite(i) && parts.values[owner].home == Home::kOwn &&
        last_readers[owner] == node && is_laid_out_alike(operands[i], result) &&
        std::ranges::count(operands, place_of[owner],
                           [&](PlanSlot slot) { return place_of[owner_of(slot)]; }) == 1;
    if (may) return place_of[owner];
  }
  return std::nullopt;
}

bool ExecutionPlan::State::is_laid_out_alike(PlanSlot a, PlanSlot b) const {
  const PlanValue &x = parts.values[a], &y = parts.values[b];
  const auto extents_of = [&](const PlanValue& value) {
    return std::span(parts.dims).subspan(value.first_dim, value.rank);
  };
  return x.dtype == y.dtype && x.memory == y.memory &&
         std::ranges::equal(extents_of(x), extents_of(y));
}

Result<void> ExecutionPlan::State::evaluate_dims(const DimBindings& bindings) {
  const DimTable& table = schedule.module().context().dims();
  asked.clear();
  for (const Dim dim : dims) {
    const auto value = table.evaluate(dim, bindings);
    if (!value || *value < 0) {
      return Error{DiagCode::kNotExecutable,
                   fmt::format("extent {} has no value", table.print(dim))};
    }
    asked.push_back(*value);
  }
  return {};
}

Result<void> ExecutionPlan::State::set_extents() {
  tensors.resize(parts.values.size());
  for (PlanSlot slot = 0; slot < tensors.size(); ++slot) {
    const PlanValue& value = parts.values[slot];
    std::byte* const data = tensors[slot].data;
    TensorRef& tensor = tensors[slot];
    tensor = lay_out(value, [&](std::size_t i) { return extents[dim_of[value.first_dim + i]]; });
    tensor.data = data;
    const auto bytes = bytes_of(tensor);
    if (!bytes) return Error{DiagCode::kLimitExceeded, "a value is larger than any memory"};
    if (place_of[slot] != kNoPlace) placements.values()[place_of[slot]].size = *bytes;
  }
  for (PlanSlot slot = 0; slot < tensors.size(); ++slot) {
    const PlanValue& value = parts.values[slot];
    if (value.home != Home::kView) continue;
    if (tensors[slot].elements() != tensors[value.base].elements()) {
      return Error{DiagCode::kShapeMismatch, "a view has another number of elements"};
    }
  }
  return {};
}

Result<void> ExecutionPlan::State::place_values() {
  planned = placements.place();
  if (block.size() < planned) {
    block = fast::LargePages();
    block = fast::LargePages(planned);
    if (block.size() < planned) {
      return Error{DiagCode::kLimitExceeded,
                   fmt::format("no memory for values of {} bytes", planned)};
    }
  }
  return {};
}

void ExecutionPlan::State::set_fixed_addresses() {
  for (PlanSlot slot = 0; slot < tensors.size(); ++slot) {
    const Home home = parts.values[slot].home;
    if (place_of[slot] != kNoPlace)
      tensors[slot].data = block.data() + placements.values()[place_of[slot]].offset;
    // Kernels only read what is not their result.
    if (home == Home::kConstant) {
      tensors[slot].data = const_cast<std::byte*>(constants[slot].bytes().data());
    }
    if (home == Home::kParameter) {
      tensors[slot].data = const_cast<std::byte*>(parameters[slot].bytes().data());
    }
  }
}

void ExecutionPlan::State::set_inputs(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors[schedule.inputs()[i]].data = const_cast<std::byte*>(inputs[i].bytes().data());
  }
  for (PlanSlot slot = 0; slot < tensors.size(); ++slot) {
    const PlanValue& value = parts.values[slot];
    if (value.home == Home::kView) tensors[slot].data = tensors[value.base].data;
  }
}

/// In the tensor of the run before where its receiver has let go of it.
Result<void> ExecutionPlan::State::set_output(std::size_t number, fast::Context& context) {
  const TensorRef& value = tensors[schedule.outputs()[number]];
  Tensor& tensor = handed_out[number];
  const bool fits = tensor.dtype() == value.dtype &&
                    std::ranges::equal(tensor.shape(), value.shape()) && tensor.is_sole_owner();
  if (fits) {
    write(value, tensor, context);
    return {};
  }
  tensor = Tensor();
  auto made = to_tensor(value, context);
  if (!made) return std::move(made).error();
  tensor = *std::move(made);
  return {};
}

Result<std::vector<Tensor>> ExecutionPlan::State::outputs(fast::Context& context) {
  handed_out.resize(schedule.outputs().size());
  for (std::size_t number = 0; number < handed_out.size(); ++number) {
    if (auto ok = set_output(number, context); !ok) return std::move(ok).error();
  }
  return handed_out;
}

ExecutionPlan::ExecutionPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutionPlan::ExecutionPlan(ExecutionPlan&&) noexcept = default;
ExecutionPlan& ExecutionPlan::operator=(ExecutionPlan&&) noexcept = default;
ExecutionPlan::~ExecutionPlan() = default;

Result<ExecutionPlan> ExecutionPlan::create(const Schedule& schedule, const PlanOptions& options,
                                            const PlanResources& resources) {
  auto parts = PlanBuilder(schedule, options, resources).build();
  if (!parts) return std::move(parts).error();
  auto state = std::make_unique<State>(schedule, *std::move(parts));
  state->constants.resize(state->parts.values.size());
  state->parameters.resize(state->parts.values.size());
  for (PlanSlot slot = 0; slot < state->parts.values.size(); ++slot) {
    const PlanValue& value = state->parts.values[slot];
    if (value.home == Home::kConstant) state->constants[slot] = resources.constants[slot];
    if (value.home == Home::kParameter) {
      state->parameters[slot] = resources.parameters->at(value.parameter);
    }
  }
  if (options.fusion != Fusion::kOff) {
    state->folded = fold_constants(state->parts, state->constants, state->parameters, schedule,
                                   options, resources);
  }
  for (const auto& node : state->parts.nodes) state->names.push_back(node->name());
  state->collect_dims();
  // Without fusion steps are observed, their operands too.
  state->find_lifetimes(options.fusion != Fusion::kOff);
  return ExecutionPlan(std::move(state));
}

Result<void> ExecutionPlan::bind(const DimBindings& bindings) {
  State& state = *state_;
  if (auto ok = state.evaluate_dims(bindings); !ok) return ok;
  if (state.bound && state.asked == state.extents) return {};
  state.bound = false;
  std::swap(state.extents, state.asked);
  if (auto ok = state.set_extents(); !ok) return ok;
  if (auto ok = state.place_values(); !ok) return ok;
  state.set_fixed_addresses();
  state.bound = true;
  return {};
}

/// One run.
class PlanExecution {
 public:
  PlanExecution(ExecutionPlan::State& state, const PlanRun& run)
      : state_(state),
        run_(run),
        caches_(*run.caches),
        frame_{state.tensors, *run.context, caches_, run.environment} {}

  std::variant<std::vector<Tensor>, PlanFailure> execute() {
    const auto& nodes = state_.parts.nodes;
    const std::size_t steps = state_.schedule.steps().size();
    std::size_t next = 0;
    for (std::size_t step = 0; run_.observe != nullptr && step < steps; ++step) {
      for (; next < nodes.size() && nodes[next]->step() <= step; ++next) {
        if (auto ok = run_node(next); !ok) return PlanFailure{step, std::move(ok).error()};
      }
      if (auto ok = show(step); !ok) return PlanFailure{step, std::move(ok).error()};
    }
    for (; next < nodes.size(); ++next) {
      if (auto ok = run_node(next); !ok) {
        return PlanFailure{nodes[next]->step(), std::move(ok).error()};
      }
    }
    // The last steps may have been computed once and for all.
    const std::size_t done = nodes.empty() ? 0 : nodes.back()->step() + 1;
    if (run_.done && done < steps) run_.done(steps);
    auto outputs = state_.outputs(frame_.context);
    if (!outputs) return PlanFailure{steps == 0 ? 0 : steps - 1, std::move(outputs).error()};
    return *std::move(outputs);
  }

 private:
  Result<void> run_node(std::size_t number) {
    const PlanNode& node = *state_.parts.nodes[number];
    if (run_.stop.stop_requested()) {
      return Error{DiagCode::kCancelled, fmt::format("the run was stopped after {} of {} steps",
                                                     node.step(), state_.schedule.steps().size())};
    }
    if (auto ok = run_.timed ? run_timed(node, number) : node.run(frame_); !ok) return ok;
    if (run_.done) run_.done(node.step() + 1);
    return {};
  }

  Result<void> run_timed(const PlanNode& node, std::size_t number) {
    const auto begin = KernelTiming::Clock::now();
    if (auto ok = node.run(frame_); !ok) return ok;
    const auto end = KernelTiming::Clock::now();
    run_.timed({node.step(), state_.names[number], begin, end, node.work(frame_)});
    return {};
  }

  Result<void> show(std::size_t number) {
    const Step& step = state_.schedule.steps()[number];
    std::vector<Tensor> operands, results;
    for (const SlotIndex slot : state_.schedule.operands(step)) {
      auto tensor = to_tensor(frame_[slot], frame_.context);
      if (!tensor) return tensor.error();
      operands.push_back(*std::move(tensor));
    }
    for (std::uint32_t i = 0; i < step.op->result_count(); ++i) {
      auto tensor = to_tensor(frame_[step.first_result + i], frame_.context);
      if (!tensor) return tensor.error();
      results.push_back(*std::move(tensor));
    }
    const std::vector<Tensor> shown = results;
    if (auto ok = run_.observe(number, operands, results); !ok) return ok;
    for (std::uint32_t i = 0; i < step.op->result_count(); ++i) {
      const bool kept = results[i].bytes().data() == shown[i].bytes().data();
      if (auto ok = kept ? Result<void>() : take(results[i], step.first_result + i); !ok) return ok;
    }
    return {};
  }

  Result<void> take(const Tensor& tensor, PlanSlot slot) {
    const TensorRef& to = frame_[slot];
    if (tensor.dtype() != to.dtype || !std::ranges::equal(tensor.shape(), to.shape())) {
      return Error{DiagCode::kResultMismatch,
                   "another tensor does not fit the value it stands for"};
    }
    assign(to, tensor, frame_.context);
    return {};
  }

  ExecutionPlan::State& state_;
  const PlanRun& run_;
  CacheAccess caches_;
  Frame frame_;
};

std::variant<std::vector<Tensor>, PlanFailure> ExecutionPlan::run(const PlanRun& run) {
  state_->set_inputs(run.inputs);
  return PlanExecution(*state_, run).execute();
}

const std::vector<std::string>& ExecutionPlan::node_names() const {
  return state_->names;
}

const FoldedNodes& ExecutionPlan::folded() const {
  return state_->folded;
}

std::uint64_t ExecutionPlan::lower_bound() const {
  return most_alive(state_->placements.values());
}

std::uint64_t ExecutionPlan::planned_bytes() const {
  return state_->planned;
}

}  // namespace mir
