// Builds the nodes of a plan: chooses fast or reference kernels, views and fused groups.
#include "plan/plan_builder.hpp"

#include <algorithm>
#include <numeric>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "kernels/fast/rows.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "plan/fast_ops.hpp"
#include "plan/nodes/owned.hpp"
#include "plan/stored_table.hpp"

namespace mir {

namespace {

StepGraph step_graph(const Schedule& schedule) {
  StepGraph graph(schedule.values().size());
  for (const Step& step : schedule.steps()) {
    graph.add(*step.op, schedule.operands(step), step.first_result, step.part);
  }
  for (const ValueIndex output : schedule.outputs()) graph.keep(output);
  return graph;
}

}  // namespace

PlanBuilder::PlanBuilder(const Schedule& schedule, const PlanOptions& options,
                         const PlanResources& resources)
    : schedule_(schedule),
      options_(options),
      resources_(resources),
      graph_(step_graph(schedule)),
      phases_(schedule, RunSymbols(schedule)) {}

void PlanBuilder::find_caches() {
  for (const Step& step : schedule_.steps()) {
    if (const Symbol cache = cache_of(*step.op)) ++cache_writers_[cache];
  }
  for (std::size_t number = 0; number < schedule_.steps().size(); ++number) {
    const ControlStep* control = schedule_.control(number);
    if (control == nullptr) continue;
    for (const Schedule& region : control->regions) {
      region.for_each([&](const Schedule& each) {
        for (const Step& step : each.steps()) {
          if (const Symbol cache = cache_of(*step.op)) last_nested_writer_[cache] = number;
        }
      });
    }
  }
}

/// True if a region appends to the cache of a step, which may move it, while the results of the
/// step are still read.
bool PlanBuilder::may_move(std::size_t step) const {
  const auto writer = last_nested_writer_.find(cache_of(*step_at(step).op));
  if (writer == last_nested_writer_.end() || writer->second < step) return false;
  const auto results = results_of(step);
  return std::ranges::any_of(schedule_.values(), [&](const ScheduledValue& value) {
    const bool shows = std::ranges::find(results, value.storage) != results.end();
    return shows && value.last_use > step;
  });
}

PlanParts PlanBuilder::build() {
  find_caches();
  parts_.phase_steps.assign(phases_.steps().begin(), phases_.steps().end());
  for (ValueIndex index = 0; index < schedule_.values().size(); ++index) add_value(index);
  const std::vector<FusedGroup> groups = this->groups();
  std::vector<const FusedGroup*> anchored(schedule_.steps().size(), nullptr);
  std::vector<bool> fused(schedule_.steps().size(), false);
  for (const FusedGroup& group : groups) {
    anchored[group.anchor] = &group;
    for (const std::size_t step : group.steps) fused[step] = true;
    if (group.norm) fused[*group.norm] = true;
  }
  for (std::size_t step = 0; step < fused.size(); ++step) {
    if (anchored[step] != nullptr) {
      add_group(*anchored[step]);
    } else if (!fused[step]) {
      add_step(step);
    }
  }
  return std::move(parts_);
}

std::vector<FusedGroup> PlanBuilder::groups() const {
  const auto scalar = [this](ValueIndex index) -> std::optional<float> {
    return only_float(resources_.constants[index]);
  };
  const auto is_fixed = [this](ValueIndex index) {
    const ValueRole role = schedule_.values()[index].role;
    return role == ValueRole::kConstant || role == ValueRole::kParameter;
  };
  if (!options_.fuses) return {};
  return find_groups(graph_,
                     {.scalar = scalar, .is_fixed = is_fixed, .excluded = steps_without_fusion()});
}

/// Steps that fast kernels cannot compute together with others.
std::vector<bool> PlanBuilder::steps_without_fusion() const {
  std::vector<bool> steps(schedule_.steps().size());
  for (std::size_t step = 0; step < steps.size(); ++step) {
    steps[step] = !has_planned_values(step) || phases_.is_begun_by(step) ||
                  !has_phase_of_operands(step) || computes_on_codes(step);
  }
  return steps;
}

/// True if all extents of results are known with those of operands, so that the step may be
/// computed as soon as they are available. Other steps occur in modules that were not verified.
bool PlanBuilder::has_phase_of_operands(std::size_t step) const {
  const auto phase = [&](PlanValueIndex index) { return parts_.values[index].phase; };
  std::uint16_t last = 0;
  for (const PlanValueIndex operand : operands_of(step)) last = std::max(last, phase(operand));
  return std::ranges::all_of(results_of(step), [&](auto index) { return phase(index) <= last; });
}

void PlanBuilder::add_value(ValueIndex index) {
  const ScheduledValue& scheduled = schedule_.values()[index];
  PlanValue value;
  switch (scheduled.role) {
    case ValueRole::kInput:
      value.home = Home::kInput;
      break;
    case ValueRole::kConstant:
      value.home = Home::kConstant;
      break;
    case ValueRole::kParameter:
      value.home = Home::kParameter;
      break;
    case ValueRole::kResult:
      value.home = Home::kTensor;
      break;
  }
  if (can_plan(index)) {
    const TensorType& type = *scheduled.value->held_type();
    if (scheduled.role == ValueRole::kResult) value.home = Home::kOwn;
    value.is_planned = true;
    value.phase = *phases_.of(index);
    value.dtype = *type.dtype();
    value.rank = static_cast<std::uint8_t>(type.rank());
    std::iota(value.memory.begin(), value.memory.end(), std::uint8_t{0});
    value.first_dim = static_cast<std::uint32_t>(parts_.dims.size());
    parts_.dims.insert(parts_.dims.end(), type.dims().begin(), type.dims().end());
  }
  parts_.values.push_back(value);
}

/// True if the extents and the memory of a value are known when it is made.
bool PlanBuilder::can_plan(ValueIndex index) const {
  const ScheduledValue& scheduled = schedule_.values()[index];
  const TensorType* type = scheduled.value->held_type();
  const bool is_missing =
      scheduled.role == ValueRole::kParameter && !parameters().contains(scheduled.value->symbol());
  return options_.kernels == KernelSet::kFast && !is_missing && type != nullptr && type->dtype() &&
         type->rank() <= kMaxPlannedRank && phases_.of(index);
}

/// True if fast kernels can see all operands and results of a step.
bool PlanBuilder::has_planned_values(std::size_t step) const {
  const auto is_planned = [&](PlanValueIndex index) { return parts_.values[index].is_planned; };
  return options_.kernels == KernelSet::kFast &&
         std::ranges::all_of(operands_of(step), is_planned) &&
         std::ranges::all_of(results_of(step), is_planned);
}

std::vector<PlanValueIndex> PlanBuilder::operands_of(std::size_t step) const {
  const auto indices = schedule_.operands(step_at(step));
  return {indices.begin(), indices.end()};
}

std::vector<PlanValueIndex> PlanBuilder::results_of(std::size_t step) const {
  std::vector<PlanValueIndex> indices(step_at(step).result_count);
  std::iota(indices.begin(), indices.end(), step_at(step).first_result);
  return indices;
}

PlannedStep PlanBuilder::planned(std::size_t step) const {
  return {step, step_at(step).op, operands_of(step), results_of(step)};
}

void PlanBuilder::add(std::unique_ptr<PlanNode> node) {
  for (const PlanValueIndex index : node->results()) producers_[index] = node.get();
  parts_.nodes.push_back(std::move(node));
}

/// A value with the same extents and a place of its own.
PlanValueIndex PlanBuilder::add_copy(std::size_t step, PlanValueIndex from) {
  PlanValue copy = parts_.values[from];
  copy.home = Home::kOwn;
  std::iota(copy.memory.begin(), copy.memory.end(), std::uint8_t{0});
  const auto index = static_cast<PlanValueIndex>(parts_.values.size());
  parts_.values.push_back(copy);
  add(copy_node(step, from, index));
  return index;
}

PlanValueIndex PlanBuilder::row_major(std::size_t step, PlanValueIndex index) {
  if (parts_.values[index].is_row_major()) return index;
  const auto [found, is_new] = copies_.try_emplace(index, 0);
  if (is_new) found->second = add_copy(step, index);
  return found->second;
}

/// True if codes are read or written in a step, other than by moving them.
bool PlanBuilder::computes_on_codes(std::size_t step) const {
  const Op& op = *step_at(step).op;
  return resources_.quantisations != nullptr && touches_codes(op, *resources_.quantisations) &&
         !(op.has(Trait::kMoves) && keeps_codes(op, *resources_.quantisations));
}

bool PlanBuilder::add_cache(std::size_t step) {
  // Another writer might move what this one's results show.
  const auto writers = cache_writers_.find(cache_of(*step_at(step).op));
  if (writers == cache_writers_.end() || writers->second != 1 || may_move(step)) return false;
  for (const PlanValueIndex result : results_of(step)) parts_.values[result].home = Home::kCache;
  add(cache_node(planned(step)));
  return true;
}

bool PlanBuilder::add_embedding(std::size_t step) {
  const Op& op = *step_at(step).op;
  auto table = stored_table(op, *resources_.parameters);
  if (!table) {
    const Tensor* const made = acquire_weight(op);
    if (made == nullptr || !find_fast_op(op)->admits_parameters(op, parameters())) return false;
    table = *made;
  }
  PlannedStep planned_step = planned(step);
  for (PlanValueIndex& each : planned_step.operands) each = row_major(step, each);
  add(embedding_node(planned_step, *std::move(table)));
  return true;
}

void PlanBuilder::add_step(std::size_t step) {
  if (const ControlStep* control = schedule_.control(step)) {
    add(control_node(planned(step), *control, options_, resources_));
  } else if (!add_fast(step)) {
    add_reference(step);
  }
}

/// Dispatches by the row of the op. Returns false if the step needs the reference kernel.
bool PlanBuilder::add_fast(std::size_t step) {
  const Op& op = *step_at(step).op;
  const FastOp* const row = find_fast_op(op);
  if (row == nullptr || !has_planned_values(step)) return false;
  if (phases_.is_begun_by(step) && !row->decides_extents) return false;
  if (computes_on_codes(step)) {
    return row->build_on_codes != nullptr && (this->*row->build_on_codes)(step);
  }
  if (!row->admits(op)) return false;
  return row->build != nullptr ? (this->*row->build)(step) : add_node(step, *row);
}

bool PlanBuilder::add_node(std::size_t step, const FastOp& row) {
  if (!row.admits_parameters(*step_at(step).op, parameters())) return false;
  FastStep fast{planned(step), row, parameters()};
  for (std::size_t i = 0; i < fast.operands.size(); ++i) {
    fast.operands[i] = in_order(step, fast.operands[i], row.orders.of(i));
  }
  add(row.make(fast));
  return true;
}

/// The value, or a copy of it, with its elements as a node takes them.
PlanValueIndex PlanBuilder::in_order(std::size_t step, PlanValueIndex index, OperandOrder order) {
  if (order == OperandOrder::kStrided) return index;
  if (order == OperandOrder::kRowMajor) return row_major(step, index);
  const PlanValue& value = parts_.values[index];
  const bool has_rows = value.rank > 0 && value.memory[value.rank - 1] == value.rank - 1;
  return has_rows ? index : row_major(step, index);
}

/// Among fast kernels, tensors that the step reads are made before the first run. Failures are left
/// to the step to report.
void PlanBuilder::add_reference(std::size_t step) {
  const Op& op = *step_at(step).op;
  const bool is_alone = options_.kernels == KernelSet::kRef;
  for (const OwnedParameter& owned : owned_parameters(op)) {
    if (is_alone || parameters().contains(owned.symbol)) continue;
    if (!resources_.parameters->acquire({&owned.symbol, 1})) continue;
  }
  add(reference_node(planned(step), options_.kernels));
}

bool PlanBuilder::add_view(std::size_t step) {
  const PlanValueIndex from = row_major(step, operands_of(step).front());
  PlanValue& view = parts_.values[results_of(step).front()];
  const PlanValue& base = parts_.values[from];
  if (view.phase != base.phase) return false;
  view.home = Home::kView;
  view.base = base.home == Home::kView ? base.base : from;
  return true;
}

bool PlanBuilder::add_match_shape(std::size_t step) {
  if (!add_view(step)) return false;
  const PlanValueIndex view = results_of(step).front();
  add(match_shape_node(step, *step_at(step).op, operands_of(step).front(), view));
  return true;
}

namespace {

/// The dimension of the operand that each dimension of the result is.
std::optional<std::vector<std::uint8_t>> order_of(const Op& op, std::uint8_t rank) {
  const OpAttributes attributes(op);
  std::vector<std::uint8_t> order(rank);
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  const auto axis = [&](std::int64_t dim) { return dim < 0 ? dim + rank : dim; };
  std::vector<std::int64_t> dims;
  if (op.is(OpId::kLinalgTranspose)) {
    dims = {axis(attributes.integer(key::kDim0)), axis(attributes.integer(key::kDim1))};
    if (std::ranges::any_of(dims, [&](auto dim) { return dim < 0 || dim >= rank; })) return {};
    std::swap(order[static_cast<std::size_t>(dims[0])], order[static_cast<std::size_t>(dims[1])]);
    return order;
  }
  dims = attributes.integers(key::kAxis);
  if (dims.size() != rank) return {};
  std::vector<bool> seen(rank, false);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t dim = axis(dims[i]);
    if (dim < 0 || dim >= rank || seen[static_cast<std::size_t>(dim)]) return {};
    seen[static_cast<std::size_t>(dim)] = true;
    order[i] = static_cast<std::uint8_t>(dim);
  }
  return order;
}

}  // namespace

bool PlanBuilder::add_permutation(std::size_t step) {
  const PlanValueIndex from = operands_of(step).front(), to = results_of(step).front();
  const PlanValue source = parts_.values[from];
  PlanValue& view = parts_.values[to];
  const auto order = order_of(*step_at(step).op, source.rank);
  if (!order || view.rank != source.rank || view.phase != source.phase ||
      source.home == Home::kCache) {
    return false;
  }
  view.home = Home::kView;
  view.base = source.home == Home::kView ? source.base : from;
  if (sink(from, to, *order)) return true;
  for (std::uint8_t i = 0; i < view.rank; ++i) view.memory[i] = source.memory[(*order)[i]];
  return true;
}

/// Lets the kernel that makes `from` write it in the order of `to`, its only reader's result.
bool PlanBuilder::sink(PlanValueIndex from, PlanValueIndex to,
                       const std::vector<std::uint8_t>& order) {
  PlanValue& source = parts_.values[from];
  const auto producer = producers_.find(from);
  const bool may = source.home == Home::kOwn && source.is_row_major() &&
                   producer != producers_.end() && producer->second->writes_strided() &&
                   from < schedule_.values().size() &&
                   graph_.only_reader(from) != StepGraph::kNone && order.back() == source.rank - 1;
  if (!may) return false;
  PlanValue& view = parts_.values[to];
  for (std::uint8_t i = 0; i < view.rank; ++i) {
    view.memory[i] = i;
    source.memory[order[i]] = i;
  }
  return true;
}

bool PlanBuilder::add_convolution(std::size_t step) {
  const Op& op = *step_at(step).op;
  const FastOp& row = *find_fast_op(op);
  if (acquire_weight(op) == nullptr || !row.admits_parameters(op, parameters())) return false;
  const auto conv = conv_part(op, std::get<SpatialRank>(row.function), parameters());
  if (!conv) return false;
  const fast::PackedMatrix* patch_weight = nullptr;
  const TensorType* y = op.result()->held_type();
  if (conv->is_patch && y->dims()[1].is_constant() && y->dims()[1].constant() > 0) {
    const std::int64_t outputs = y->dims()[1].constant();
    const auto packed =
        resources_.weights->pack(owned_symbol(op, ".weight"), conv->weight, outputs,
                                 conv->weight.elements() / outputs, *resources_.context);
    if (packed) patch_weight = *packed;
  }
  if (patch_weight != nullptr) release_weight(op);
  const PlanValueIndex x = row_major(step, operands_of(step).front());
  add(conv_node({step, &op, {x}, results_of(step)}, *conv, patch_weight));
  return true;
}

/// Elementwise functions as one node; false when one of them has no fast kernel.
bool PlanBuilder::add_chain(const FusedGroup& group) {
  std::vector<PlannedStep> steps;
  for (const std::size_t step : group.steps) {
    const FastOp* const row = find_fast_op(*step_at(step).op);
    if (row == nullptr || !row->admits(*step_at(step).op)) return false;
    steps.push_back(planned(step));
  }
  for (PlannedStep& step : steps) {
    for (PlanValueIndex& operand : step.operands) {
      const std::size_t made = graph_.producer(operand);
      const bool is_inside = std::ranges::find(group.steps, made) != group.steps.end();
      if (!is_inside) operand = row_major(group.anchor, operand);
    }
  }
  add(chain_node(steps));
  return true;
}

/// True if an RMSNorm has a fast kernel.
bool PlanBuilder::can_normalise(std::size_t step) const {
  const Op& op = *step_at(step).op;
  const FastOp& row = *find_fast_op(op);
  return row.admits(op) && row.admits_parameters(op, parameters());
}

void PlanBuilder::add_group(const FusedGroup& group) {
  using Kind = FusedGroup::Kind;
  if (group.kind == Kind::kAttention) return add_attention(group);
  if (group.kind == Kind::kRotation) return add_rotation(group);
  if (group.norm && !can_normalise(*group.norm)) {
    // The norm needs the reference kernel.
    FusedGroup rest = group;
    rest.norm.reset();
    add_step(*group.norm);
    return add_group(rest);
  }
  if (group.kind == Kind::kGated   ? add_gated(group)
      : group.kind == Kind::kChain ? add_chain(group)
                                   : add_products(group)) {
    return;
  }
  if (group.norm) add_step(*group.norm);
  for (const std::size_t step : group.steps) add_step(step);
}

void PlanBuilder::add_rotation(const FusedGroup& group) {
  const FusedGroup::Rotation& rotation = *group.rotation;
  add(rotate_half_node(group.anchor, {.x = in_order(group.anchor, rotation.x, OperandOrder::kRows),
                                      .cos = row_major(group.anchor, rotation.cos),
                                      .sin = row_major(group.anchor, rotation.sin),
                                      .out = results_of(group.anchor).front()}));
}

void PlanBuilder::add_attention(const FusedGroup& group) {
  const std::size_t scores = group.steps.front();
  const auto mask = group.mask.value_or(FusedGroup::Mask{});
  AttentionValues values{.q = operands_of(scores)[0],
                         .k = operands_of(scores)[1],
                         .v = operands_of(group.anchor)[1],
                         .out = results_of(group.anchor).front()};
  for (PlanValueIndex* const operand : {&values.q, &values.k, &values.v}) {
    *operand = in_order(group.anchor, *operand, OperandOrder::kRows);
  }
  if (group.mask) values.mask = row_major(group.anchor, mask.value);
  if (group.positions) values.positions = row_major(group.anchor, *group.positions);
  const auto hidden = group.causal ? std::optional(fast::kMaskedScore) : std::nullopt;
  add(attention_node(group.anchor, values,
                     {.scale = group.scale,
                      .causal = group.causal,
                      .window = group.window,
                      .masks_one_query = group.masks_one_query,
                      .hidden = hidden,
                      .replaces_by = mask.replaces_by}));
}

}  // namespace mir
