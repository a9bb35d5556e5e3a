// The body of a declared op, for one op.
#include <fmt/format.h>

#include <algorithm>

#include "declare/declared_op.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/module.hpp"
#include "patterns/unify.hpp"
#include "support/counted.hpp"

namespace mir::declare {

using patterns::GraphTemplate;
using patterns::ValueTemplate;

namespace {

/// The graph in which value `number` is so many values, the first of them at its place. Returns
/// their numbers.
std::vector<std::uint32_t> repeat_value(GraphTemplate& graph, std::uint32_t number,
                                        std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back(i == 0 ? number : static_cast<std::uint32_t>(graph.values.size()));
    if (i != 0) graph.values.push_back(ValueTemplate(graph.values[number]));
  }
  const auto expand = [&](std::vector<std::uint32_t>& list) {
    std::vector<std::uint32_t> expanded;
    for (const std::uint32_t each : list) {
      if (each == number) {
        expanded.insert(expanded.end(), all.begin(), all.end());
      } else {
        expanded.push_back(each);
      }
    }
    list = std::move(expanded);
  };
  for (patterns::OpTemplate& op : graph.ops) expand(op.operands);
  expand(graph.results);
  return all;
}

/// Lets variables that only a run finds out, which only types of results have, be what these types
/// say.
void bind_fresh(const Signature& signature, const Op& op, patterns::Bindings& bindings,
                IRContext& context) {
  patterns::Unifier unifier(context);
  unifier.bindings() = bindings;
  const auto counts = signature.result_counts(op.result_count());
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < counts.size() && result < op.result_count(); ++i) {
    const auto before = unifier.mark();
    if (counts[i] != 0 &&
        !unifier.unify_type(signature.results[i].type, op.result(result)->type())) {
      unifier.undo(before);
    }
    result += counts[i];
  }
  bindings = std::move(unifier.bindings());
}

bool are_used(const GraphTemplate& graph, std::uint32_t value) {
  const auto has = [&](const std::vector<std::uint32_t>& list) {
    return std::ranges::find(list, value) != list.end();
  };
  return has(graph.results) ||
         std::ranges::any_of(graph.ops, [&](const auto& op) { return has(op.operands); });
}

/// The operand that the body needs and the op lacks; null if it has all.
const Part* lacking_operand(const Signature& signature, std::span<const std::uint32_t> counts) {
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 && are_used(signature.body, i)) return &signature.operands[i];
  }
  return nullptr;
}

/// A body sees the tensors that hold values of declared types.
const Type* seen_by_body(const Type* type) {
  const TensorType* held = held_type(type);
  return held == nullptr ? type : held;
}

/// Declared types. The values that a body gets may be the tensors that hold the operands.
std::vector<const Type*> types_of_operands(const Op& op) {
  std::vector<const Type*> types;
  for (const Use& use : op.operand_uses()) types.push_back(use.value()->type());
  return types;
}

OpFacts facts_of(const Op& op, std::span<const Type* const> operands, ExtentProver* prover) {
  IRContext& context = op.module().context();
  return {context,
          *op.row(),
          operands,
          op.attributes(),
          op.has_path() ? context.text(op.path()) : std::string_view(),
          prover};
}

}  // namespace

std::optional<std::string> plan_body(const DeclaredOp& declared, const Signature& signature,
                                     const OpFacts& op, const patterns::Bindings& bindings,
                                     std::size_t result_count, BodyPlan& made) {
  if (!signature.has_body) return fmt::format("'{}' has no body", declared.name);
  const auto counts = signature.operand_counts(op.operands.size());
  if (const Part* operand = lacking_operand(signature, counts)) {
    return fmt::format("'{}' has no body without '%{}'", declared.name, operand->name);
  }
  // A copy only where a value of the body is not exactly one operand.
  std::optional<GraphTemplate> repeated;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 1) {
      made.inputs.push_back(i);
      continue;
    }
    if (!repeated) repeated = signature.body;
    const auto numbers = repeat_value(*repeated, i, counts[i]);
    made.inputs.insert(made.inputs.end(), numbers.begin(), numbers.end());
  }
  const GraphTemplate& graph = repeated ? *repeated : signature.body;
  made.plan.reset(graph.values.size());
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    made.plan.types[made.inputs[i]] = seen_by_body(op.operands[i]);
  }
  if (auto reason = patterns::plan_graph(graph, bindings, op.context, made.plan)) {
    return fmt::format("the body of '{}': {}", declared.name, *reason);
  }
  made.results = graph.results;
  // Only optional results may be lacking, and only if it is plain which they are.
  const bool has_many = std::ranges::any_of(signature.results, &Part::is_many);
  if (made.results.size() < result_count || (has_many && made.results.size() != result_count)) {
    return fmt::format("the body of '{}' gives {}, the op has {}", declared.name,
                       counted(made.results.size(), "results"), result_count);
  }
  made.results.resize(result_count);
  const auto stated = result_types(signature, op, bindings, result_count);
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    const Type* type = made.plan.types[made.results[i]];
    if (i >= stated.size() || stated[i] == nullptr || type == nullptr) continue;
    if (compatible(type, seen_by_body(stated[i])) || compatible(type, stated[i])) continue;
    return fmt::format("the body of '{}' gives result {} the type {}, its signature {}",
                       declared.name, i, type->spelling(), stated[i]->spelling());
  }
  return std::nullopt;
}

bool verify_body(const DeclaredOp& declared, VerifyContext& each) {
  const Op& op = each.op();
  const std::vector<const Type*> types = types_of_operands(op);
  if (std::ranges::find(types, nullptr) != types.end()) return true;
  const Signature* signature = declared.signature_for(types.size());
  if (signature == nullptr || !signature->has_body) return true;
  // A missing name is reported with the weights that it would find.
  if (declared.path_variable && !op.has_path() && !op.row()->weights.empty()) return true;
  if (lacking_operand(*signature, signature->operand_counts(types.size())) != nullptr) return true;
  std::optional<ExtentProver> prover = ExtentProver::of(op.module());
  const OpFacts facts = facts_of(op, types, prover ? &*prover : nullptr);
  Refusal refusal;
  auto bindings = bind(declared, *signature, facts, refusal);
  if (!bindings) return true;
  bind_fresh(*signature, op, *bindings, each.context());
  BodyPlan made;
  auto reason = plan_body(declared, *signature, facts, *bindings, op.result_count(), made);
  return !reason || each.fail(diag::kConditionViolated, *std::move(reason));
}

std::optional<std::vector<Value*>> make_body(const DeclaredOp& declared, const Op& op,
                                             std::span<Value* const> operands, Rewriter& rewriter,
                                             Diagnostics& diagnostics) {
  const auto refuse = [&](DiagCode code, std::string message) {
    diagnostics.error(code, op.span(), std::move(message));
    return std::nullopt;
  };
  const Signature* signature = declared.signature_for(operands.size());
  if (signature == nullptr) {
    return refuse(diag::kWrongArity, fmt::format("'{}' has no signature with {} operands",
                                                 declared.name, operands.size()));
  }
  const std::vector<const Type*> types = types_of_operands(op);
  std::optional<ExtentProver> prover = ExtentProver::of(op.module());
  const OpFacts facts = facts_of(op, types, prover ? &*prover : nullptr);
  Refusal refusal;
  auto bindings = bind(declared, *signature, facts, refusal);
  if (!bindings) return refuse(refusal.code, std::move(refusal.message));
  bind_fresh(*signature, op, *bindings, rewriter.context());
  BodyPlan made;
  if (auto reason = plan_body(declared, *signature, facts, *bindings, op.result_count(), made)) {
    return refuse(diag::kNotExecutable, *std::move(reason));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    made.plan.values[made.inputs[i]] = operands[i];
  }
  const auto values =
      patterns::make_graph(rewriter, made.plan, *rewriter.insertion_block()->parent());
  std::vector<Value*> results;
  for (const std::uint32_t each : made.results) results.push_back(values[each]);
  return results;
}

}  // namespace mir::declare
