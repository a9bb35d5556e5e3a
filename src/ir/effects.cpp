// Decides from rows and nested ops whether an op is pure, dead or speculatable.
#include <algorithm>

#include "ir/erasable.hpp"
#include "ir/extent_walk.hpp"
#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/op.hpp"

namespace mir {

namespace {

/// True if `holds` is true for all ops inside, except for graphs, which only calls run.
template <class Holds>
bool all_inside(const Op& op, const Holds& holds) {
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (const Block* block : region->blocks()) {
      for (const Op* inner : block->ops()) {
        if (!is_graph(*inner) && !holds(*inner)) return false;
      }
    }
  }
  return true;
}

bool is_static(const Value& value) {
  const TensorType* type = value.held_type();
  return type != nullptr && std::ranges::all_of(type->dims(), &Dim::is_constant);
}

/// Ends of the blocks of a pure op are what they are.
bool is_pure_inside(const Op& op) {
  return op.has(Trait::kTerminator) || is_pure(op);
}

bool is_speculatable_inside(const Op& op) {
  return op.has(Trait::kTerminator) || is_speculatable(op);
}

}  // namespace

std::optional<Effect> effects_of(const Op& op) {
  if (op.row() == nullptr) return std::nullopt;
  Effect effects = op.row()->effects;
  if (op.module().is_portable()) {
    effects = effects & ~(Effect::kWritesOperand0 | Effect::kWritesOperand1);
  }
  const bool known = all_inside(op, [&](const Op& inner) {
    const auto more = effects_of(inner);
    if (more) effects = effects | *more;
    return more.has_value();
  });
  return known ? std::optional(effects) : std::nullopt;
}

bool is_commutative(const Op& op) {
  return op.has(Trait::kCommutative) && op.operand_count() == 2;
}

bool writes_operand(const Op& op, std::uint32_t index) {
  const Effect effects = effects_of(op).value_or(Effect::kNone);
  return (index == 0 && has(effects, Effect::kWritesOperand0)) ||
         (index == 1 && has(effects, Effect::kWritesOperand1));
}

bool is_pure(const Op& op) {
  if (!op.has(Trait::kPure) || effects_of(op) != Effect::kNone) return false;
  // The region of a kernel touches only buffers that the kernel makes.
  return op.is(OpId::kLoopKernel) || all_inside(op, is_pure_inside);
}

namespace {

/// True if only results can make a pure op needed. The symbol of a call is that of its graph.
bool is_needed_by_results_only(const Op& op) {
  const bool declares = op.has_symbol() && !callee_of(op);
  return !op.has(Trait::kTerminator) && !declares &&
         std::ranges::none_of(op.results(), &Value::has_symbol) && !finds_out_symbols(op);
}

}  // namespace

bool is_erasable(const Op& op) {
  return is_pure(op) && is_needed_by_results_only(op);
}

bool is_unused(const Op& op) {
  return std::ranges::none_of(op.results(), &Value::has_uses) && is_needed_by_results_only(op);
}

bool is_dead(const Op& op) {
  return std::ranges::none_of(op.results(), &Value::has_uses) && is_erasable(op);
}

bool has_static_types(const Op& op) {
  return std::ranges::all_of(op.operand_uses(),
                             [](const Use& use) { return is_static(*use.value()); }) &&
         std::ranges::all_of(op.results(), is_static);
}

bool is_speculatable(const Op& op) {
  if (!is_pure(op)) return false;
  if (op.first_region() == nullptr) return !may_refuse(op);
  const bool may_refuse_itself = op.row()->body && may_refuse(op);
  return has_static_types(op) && !may_refuse_itself && all_inside(op, is_speculatable_inside);
}

}  // namespace mir
