// Steps that are products with packed matrices: of weights, and of factors that all runs share.
#include <algorithm>

#include "eval/parameters.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "plan/fast_ops.hpp"
#include "plan/nodes/owned.hpp"
#include "plan/plan_builder.hpp"
#include "plan/transposed.hpp"

namespace mir {

/// Returns the weight that the op owns as a tensor; null if it owns none or it cannot be made.
const Tensor* PlanBuilder::acquire_weight(const Op& op) {
  const Symbol symbol = owned_symbol(op, ".weight");
  if (symbol && !parameters().contains(symbol)) {
    if (!resources_.parameters->acquire({&symbol, 1})) return nullptr;
  }
  return owned_tensor(op, ".weight", parameters());
}

void PlanBuilder::release_weight(const Op& op) {
  const Symbol symbol = owned_symbol(op, ".weight");
  const bool may = resources_.only_packed != nullptr && resources_.only_packed->contains(symbol);
  if (may && parameters().contains(symbol)) resources_.parameters->release({&symbol, 1}, true);
}

/// Returns the packed weight from a cache; null if the cache does not have it.
const fast::PackedMatrix* PlanBuilder::cached_weight(Symbol symbol, std::int64_t outputs,
                                                     std::int64_t depth) {
  if (!resources_.weights->has_cache()) return nullptr;
  const auto origin = resources_.parameters->origin(symbol);
  if (!origin || origin->elements != outputs * depth) return nullptr;
  return resources_.weights->take(symbol, schedule_.module().context().text(symbol), *origin,
                                  outputs, depth, *resources_.context, options_.activations);
}

/// Returns the weight in its packed form, and packs it first if necessary; null if it cannot be
/// packed.
const fast::PackedMatrix* PlanBuilder::packed_weight(const Op& op, std::int64_t outputs,
                                                     std::int64_t depth) {
  const Symbol symbol = owned_symbol(op, ".weight");
  if (const fast::PackedMatrix* known = resources_.weights->find(symbol)) {
    const bool fits = known->outputs == outputs && known->depth == depth &&
                      known->activations == options_.activations;
    return fits ? known : nullptr;
  }
  if (const auto* kept = cached_weight(symbol, outputs, depth)) return kept;
  const Tensor* weight = acquire_weight(op);
  const bool packs = weight != nullptr &&
                     find_fast_op(op)->admits_parameter(op, ".weight", parameters()) &&
                     fast::is_packable(weight->dtype(), depth);
  if (!packs) return nullptr;
  const auto packed = resources_.weights->pack(symbol, *weight, outputs, depth, *resources_.context,
                                               options_.activations);
  if (!packed) return nullptr;
  release_weight(op);
  return *packed;
}

/// Returns the packed weight and the bias of a Linear; no value if a fast kernel does not take
/// them.
std::optional<LinearPart> PlanBuilder::linear_part(std::size_t step) {
  const Op& op = *step_at(step).op;
  const FastOp& row = *find_fast_op(op);
  if (!row.admits(op) || !row.admits_parameter(op, ".bias", parameters())) return std::nullopt;
  const std::int64_t outputs = op.result()->held_type()->dims().back().constant();
  const std::int64_t depth = op.operand(0)->held_type()->dims().back().constant();
  const Tensor* bias = owned_tensor(op, ".bias", parameters());
  if (bias != nullptr && bias->elements() != outputs) return std::nullopt;
  const fast::PackedMatrix* packed = packed_weight(op, outputs, depth);
  if (packed == nullptr) return std::nullopt;
  return LinearPart{.weight = packed,
                    .bias = bias == nullptr ? Tensor() : *bias,
                    .out = results_of(step).front()};
}

/// The tensor of a constant or of a parameter that is in memory; null for other values.
const Tensor* PlanBuilder::fixed_tensor(PlanValueIndex index) const {
  const Home home = parts_.values[index].home;
  if (home == Home::kConstant) return &resources_.constants[index];
  if (home != Home::kParameter) return nullptr;
  const auto found = parameters().find(schedule_.values()[index].value->symbol());
  return found == parameters().end() ? nullptr : &found->second;
}

/// The packed second factor of a MatMul; null if it may differ from run to run, if the first factor
/// has several of them, or if it cannot be packed.
const fast::PackedMatrix* PlanBuilder::packed_factor(std::size_t step) {
  const OpAttributes attributes(*step_at(step).op);
  const PlanValueIndex factor = operands_of(step)[1], owner = parts_.owner_of(factor);
  const PlanValue& value = parts_.values[factor];
  const Tensor* const tensor = fixed_tensor(owner);
  const auto dims = parts_.dims_of(value);
  const auto is_one = [](Dim dim) { return dim == Dim(1); };
  const bool may = tensor != nullptr && tensor->defined() && tensor->dtype() == DType::kFloat32 &&
                   value.is_row_major() && value.rank >= 2 &&
                   !attributes.boolean(key::kTransposeA) &&
                   std::ranges::all_of(dims, &Dim::is_constant) &&
                   std::all_of(dims.begin(), dims.end() - 2, is_one);
  if (!may) return nullptr;
  const bool is_transposed = !attributes.boolean(key::kTransposeB);
  std::int64_t outputs = dims[value.rank - 2U].constant(), depth = dims[value.rank - 1U].constant();
  if (is_transposed) std::swap(outputs, depth);
  if (outputs <= 0 || depth <= 0 || tensor->elements() != outputs * depth) return nullptr;
  const Value& origin = *schedule_.values()[owner].value;
  const PackedSource source = parts_.values[owner].home == Home::kParameter
                                  ? PackedSource(origin.symbol(), is_transposed)
                                  : PackedSource(origin, is_transposed);
  if (const fast::PackedMatrix* known = resources_.weights->find(source)) {
    const bool fits = known->outputs == outputs && known->depth == depth &&
                      known->activations == Activations::kFloat32;
    return fits ? known : nullptr;
  }
  const auto matrix = is_transposed ? transposed(*tensor, depth, outputs) : *tensor;
  if (!matrix) return nullptr;
  const auto packed =
      resources_.weights->pack(source, *matrix, outputs, depth, *resources_.context);
  return packed ? *packed : nullptr;
}

bool PlanBuilder::add_matmul(std::size_t step) {
  const fast::PackedMatrix* const factor = packed_factor(step);
  if (factor == nullptr) {
    add(matmul_node(planned(step)));
  } else {
    const PlanValueIndex x = row_major(step, operands_of(step).front());
    add(packed_matmul_node(step, x, results_of(step).front(), factor));
  }
  return true;
}

/// Returns the left-hand operand of the products of a group.
LinearInput PlanBuilder::linear_input(const FusedGroup& group) {
  std::optional<RmsNormPart> norm;
  if (group.norm) norm = rms_norm_part(*step_at(*group.norm).op, parameters());
  const std::size_t reader = norm ? *group.norm : group.steps.front();
  return {.x = row_major(group.anchor, operands_of(reader).front()), .norm = std::move(norm)};
}

bool PlanBuilder::add_linear(std::size_t step) {
  return add_products({.steps = {step}, .anchor = step});
}

/// Products of one x as one node; false when one of them has no fast kernel.
bool PlanBuilder::add_products(const FusedGroup& group) {
  std::vector<LinearPart> parts;
  const std::size_t linears = group.kind == FusedGroup::Kind::kTailed ? 1 : group.steps.size();
  for (std::size_t i = 0; i < linears; ++i) {
    auto part = linear_part(group.steps[i]);
    if (!part) return false;
    parts.push_back(*std::move(part));
  }
  if (group.kind == FusedGroup::Kind::kTailed) {
    if (group.activation) parts.front().activation = unary_of(*step_at(*group.activation).op);
    if (group.residual) parts.front().residual = row_major(group.anchor, *group.residual);
    parts.front().out = results_of(group.anchor).front();
  }
  add(linear_node(group.anchor, linear_input(group), std::move(parts)));
  return true;
}

bool PlanBuilder::add_gated(const FusedGroup& group) {
  auto gate = linear_part(group.steps[0]);
  const auto up = linear_part(group.steps[2]);
  // The kernel has no bias for the factor, and reads both weights in one order.
  if (!gate || !up || up->bias.defined() || gate->weight->dtype != up->weight->dtype) return false;
  gate->activation = unary_of(*step_at(*group.activation).op);
  gate->out = results_of(group.anchor).front();
  add(gated_linear_node(group.anchor, linear_input(group), *std::move(gate), up->weight));
  return true;
}

}  // namespace mir
