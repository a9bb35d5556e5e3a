// Whether a run may stop at an op, by the rule of its result types.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/erasable.hpp"
#include "ir/extent_prover.hpp"
#include "ir/rewrite/bodies.hpp"
#include "ir/told_attributes.hpp"
#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"
#include "mir/tensor.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

/// False for codes, whose scales a run looks for, and for element types without kernels.
bool holds_numbers(const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  return tensor != nullptr && tensor->dtype() &&
         info(*tensor->dtype()).type_class != DTypeClass::kQuantised;
}

/// True if every extent of a result is known to be what the rule gives, and to be an extent.
bool has_extents(const Type* stated, const Type* given, std::span<const Type* const> operands,
                 ExtentProver& prover) {
  const auto *a = dyn_cast<TensorType>(stated), *b = dyn_cast<TensorType>(given);
  if (a == nullptr || b == nullptr || a->rank() != b->rank()) return false;
  const auto is_of_operand = [&](Dim extent) {
    return std::ranges::any_of(operands, [&](const Type* each) {
      const auto dims = dyn_cast<TensorType>(each)->dims();
      return std::ranges::find(dims, extent) != dims.end();
    });
  };
  for (std::size_t i = 0; i < a->rank(); ++i) {
    const Dim extent = a->dims()[i], inferred = b->dims()[i];
    if (extent.is_unknown()) continue;
    if (inferred.is_unknown()) return false;
    if (extent != inferred && !prover.is_proved(ExtentRelation::kEqual, extent, inferred)) {
      return false;
    }
    if (extent.is_constant() ? extent.is_negative()
                             : !is_of_operand(extent) &&
                                   !prover.is_proved(ExtentRelation::kAtLeast, extent, Dim())) {
      return false;
    }
  }
  return true;
}

/// An op of a declared dialect that has a body runs as that.
bool may_refuse_in_body(const Op& op) {
  Module scratch(op.module().context(), op.module().name());
  Rewriter rewriter(scratch);
  rewriter.set_version(op.module().version());
  rewriter.set_attributes(*scratch.top(), op.module().top()->attributes());
  rewriter.create_block(scratch.body());
  Diagnostics ignored(1);
  const Op* graph = add_body_graph(scratch, op, "body", ignored);
  if (graph == nullptr) return true;
  bool refuses = false;
  for_each_op(*graph->first_region(), [&](const Op& inner) {
    // A run stops at a loop with too many iterations.
    refuses = refuses || is_loop(inner) || (!inner.has(Trait::kTerminator) && may_refuse(inner));
  });
  return refuses;
}

}  // namespace

bool may_refuse(const Op& op) {
  const OpRow* row = op.row();
  if (row == nullptr) return true;
  if (!row->infer) return op.has(Trait::kMayRefuse) || !has_static_types(op);
  const std::vector<const Type*> operands = operand_types(op);
  if (!std::ranges::all_of(operands, holds_numbers)) return true;
  std::optional<ExtentProver> prover = ExtentProver::of(op.module());
  if (!prover) prover.emplace(op.module().context(), std::vector<SymbolDeclaration>());
  const ToldAttributes told(op.module(), *row, op.path(), op.attributes());
  Diagnostics ignored(1);
  InferContext rule({.context = op.module().context(),
                     .row = *row,
                     .operands = operands,
                     .attributes = told.all(),
                     .result_count = op.result_count(),
                     .at = op.span(),
                     .op_name = op.name(),
                     .device = op.op_name().device,
                     .op = &op,
                     .prover = &*prover},
                    ignored);
  const auto given = rule.run();
  if (!given || rule.is_open_ || (op.has(Trait::kMayRefuse) && !rule.states_checks_)) return true;
  for (const Value& result : op.results()) {
    const Type* inferred = result.index() < given->size() ? (*given)[result.index()] : nullptr;
    if (!holds_numbers(result.type()) || !has_extents(result.type(), inferred, operands, *prover)) {
      return true;
    }
  }
  const bool is_declared = op.op_id() == OpId::kNone;
  return is_declared && row->body && may_refuse_in_body(op);
}

}  // namespace mir
