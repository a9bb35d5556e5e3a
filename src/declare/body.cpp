// The body of a declared op, for one op.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "declare/declared_op.hpp"
#include "ir/declares_dialect.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "patterns/unify.hpp"
#include "support/characters.hpp"
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
  patterns::visit_ops(graph.ops, [&](patterns::OpTemplate& op) { expand(op.operands); });
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
  bool is_read = has(graph.results);
  patterns::visit_ops(graph.ops, [&](const auto& op) { is_read = is_read || has(op.operands); });
  return is_read;
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

// -- regions that a body runs --------------------------------------------------------------------

/// True if a value of one type can become a value of the other without a check during the run.
/// Tensors stand for the values of declared types that they hold.
bool can_become(const Type* from, const Type* to) {
  if (from == nullptr || to == nullptr || from == to) return true;
  const TensorType *const a = held_type(from), *const b = held_type(to);
  if (a == nullptr || b == nullptr || !compatible(a, b)) return false;
  return std::ranges::equal(a->dims(), b->dims(), [](Dim given, Dim taken) {
    return taken.is_unknown() || given == taken;
  });
}

/// Checks the regions of one op against what its body passes to them and takes from them.
class RegionCheck {
 public:
  RegionCheck(const DeclaredOp& declared, VerifyContext& each, const patterns::GraphPlan& plan)
      : declared_(declared), each_(each), plan_(plan) {}

  bool run(const std::vector<patterns::PlannedOp>& ops) {
    patterns::visit_ops(ops, [&](const patterns::PlannedOp& op) {
      if (op.name.kind == OpId::kDialectRun) check(op);
    });
    return is_good_;
  }

 private:
  void check(const patterns::PlannedOp& run) {
    const Op& op = each_.op();
    const std::int64_t number = region_of_run(run.attributes);
    if (number < 0 || number >= op.region_count()) {
      return report(op.span(), run, fmt::format("'{}' has no region {}", declared_.name, number));
    }
    const Region& region = *op.region(static_cast<std::uint32_t>(number));
    const Op* end =
        region.empty() || region.has_several_blocks() ? nullptr : region.entry()->terminator();
    const bool is_end = end != nullptr && leaves_region(*end) &&
                        (end->is(OpId::kCfYield) || end->info().dialect == op.info().dialect);
    if (!is_end) {
      return report(
          end == nullptr ? op.span() : end->span(), run,
          fmt::format("region {} of '{}' must be one block that ends with 'cf.YieldOp' or "
                      "a terminator of its dialect",
                      number, declared_.name));
    }
    check_arguments(run, region, number);
    check_results(run, *end, number);
  }

  void check_arguments(const patterns::PlannedOp& run, const Region& region, std::int64_t number) {
    const auto arguments = region.entry_arguments();
    if (arguments.size() != run.operands.size()) {
      return report(each_.op().span(), run,
                    fmt::format("region {} of '{}' takes {}, expected {}", number, declared_.name,
                                counted(arguments.size(), "values"), run.operands.size()));
    }
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      const Type* passed = plan_.types[run.operands[i]];
      const Type* taken = arguments[i].type();
      if (can_become(passed, taken)) continue;
      report(each_.op().span(), run,
             fmt::format("argument {} of region {} of '{}' is {}, expected {}", i, number,
                         declared_.name, taken->spelling(), passed->spelling()));
    }
  }

  void check_results(const patterns::PlannedOp& run, const Op& end, std::int64_t number) {
    const auto passed = end.plain_operands();
    if (passed.size() != run.results.size()) {
      return report(end.span(), run,
                    fmt::format("'{}' passes {} from region {} of '{}', expected {}", end.name(),
                                counted(passed.size(), "values"), number, declared_.name,
                                run.results.size()));
    }
    for (std::uint32_t i = 0; i < passed.size(); ++i) {
      const Type* given = passed[i].value()->type();
      const Type* wanted = plan_.types[run.results[i]];
      if (can_become(given, wanted)) continue;
      report(
          end.span(), run,
          fmt::format("value {} that '{}' passes from region {} of '{}' is {}, expected {}", i,
                      end.name(), number, declared_.name, given->spelling(), wanted->spelling()));
    }
  }

  std::int64_t region_of_run(std::span<const NamedAttr> attributes) const {
    const Attr* number = find_attribute(each_.context(), attributes, key::kRegion);
    return number == nullptr ? 0 : number->integer();
  }

  void report(Span at, const patterns::PlannedOp& run, std::string message) {
    is_good_ = false;
    each_.report(diag::kRegionFlow, at, std::move(message))
        .note(run.at, fmt::format("the body of '{}' runs the region here", declared_.name));
  }

  const DeclaredOp& declared_;
  VerifyContext& each_;
  const patterns::GraphPlan& plan_;
  bool is_good_ = true;
};

/// Sets the fault of a trial; false.
bool fail(BodyTrial& trial, const DeclaredOp& declared, std::string message,
          const patterns::OpTemplate* at = nullptr) {
  trial.message = std::move(message);
  trial.places.clear();
  if (at != nullptr) {
    trial.places.push_back(
        {at->at, fmt::format("'{}' in the body of '{}'", at->info->name, declared.name)});
  }
  return false;
}

/// Adds the places of a fault to a report, the outermost one last.
void note_places(Diagnostic& report, const BodyTrial& trial) {
  for (const BodyTrial::Place& each : trial.places) report.note(each.at, each.text);
}

/// The variables that the attributes of an op in a body have: ": $heads is 3".
std::string values_in(const patterns::OpTemplate& op, const DeclaredOp& declared,
                      const patterns::Bindings& bindings) {
  std::vector<std::uint32_t> seen;
  for (const patterns::OpTemplate::Attribute& each : op.attributes) {
    patterns::for_each_variable(each.value, [&](std::uint32_t variable) {
      if (std::ranges::find(seen, variable) == seen.end()) seen.push_back(variable);
    });
  }
  std::string text;
  for (const std::uint32_t variable : seen) {
    const Attr* const value = bindings.variables[variable];
    if (value == nullptr || variable == declared.path_variable) continue;
    text += fmt::format("{}{} is {}", text.empty() ? ": " : ", ", declared.variables[variable],
                        value->spelling());
  }
  return text;
}

/// Names results of ops and, of a new graph, arguments as the body of a layer does, where the names
/// are free.
void name_values(Rewriter& rewriter, const GraphTemplate& graph, std::span<Value* const> values,
                 bool is_new_graph) {
  IRContext& context = rewriter.context();
  std::unordered_set<Symbol> taken;
  const Region* const around = rewriter.insertion_block()->parent();
  for (const Block* block : around->blocks()) {
    for (const Value& argument : block->arguments()) taken.insert(argument.name().symbol());
    for (const Op* op : block->ops()) {
      for (const Value& result : op->results()) taken.insert(result.name().symbol());
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const patterns::ValueTemplate& value = graph.values[i];
    if (value.constant || values[i] == nullptr || value.name.empty()) continue;
    if ((value.is_input && !is_new_graph) || is_digit(value.name.front())) continue;
    std::string name = value.name;
    for (std::size_t n = 1; !taken.insert(context.intern(name)).second; ++n) {
      name = fmt::format("{}_{}", value.name, n);
    }
    rewriter.set_name(*values[i], ValueName::symbol(context.intern(name)));
  }
}

}  // namespace

bool plan_body(const DeclaredOp& declared, const Signature& signature, const OpFacts& op,
               const patterns::Bindings& bindings, std::size_t result_count, BodyPlan& made,
               BodyTrial& trial) {
  if (!signature.has_body)
    return fail(trial, declared, fmt::format("'{}' has no body", declared.name));
  const auto counts = signature.operand_counts(op.operands.size());
  if (const Part* operand = lacking_operand(signature, counts)) {
    return fail(trial, declared,
                fmt::format("'{}' has no body without '%{}'", declared.name, operand->name));
  }
  // A copy only where a value of the body is not exactly one operand, or ops depend on bindings.
  if (signature.body.is_folded) {
    const patterns::OpTemplate* fault = nullptr;
    std::string reason;
    made.unfolded = patterns::unfold(signature.body, bindings, op.context, reason, fault);
    if (!made.unfolded) {
      return fail(trial, declared, fmt::format("the body of '{}': {}", declared.name, reason),
                  fault);
    }
  }
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 1) {
      made.inputs.push_back(i);
      continue;
    }
    if (!made.unfolded) made.unfolded = signature.body;
    const auto numbers = repeat_value(*made.unfolded, i, counts[i]);
    made.inputs.insert(made.inputs.end(), numbers.begin(), numbers.end());
  }
  const GraphTemplate& graph = made.unfolded ? *made.unfolded : signature.body;
  made.plan.reset(graph.values.size());
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    made.plan.types[made.inputs[i]] = seen_by_body(op.operands[i]);
  }
  if (auto reason = patterns::plan_graph(graph, bindings, op.context, made.plan)) {
    trial.needs_number = made.plan.needs_number;
    const patterns::OpTemplate* const at = made.plan.fault;
    const std::string values =
        at == nullptr || !declared.is_layer ? "" : values_in(*at, declared, bindings);
    return fail(trial, declared,
                fmt::format("the body of '{}': {}{}", declared.name, *reason, values), at);
  }
  trial.ops += made.plan.ops.size();
  if (trial.ops > BodyTrial::kMostOps) {
    return fail(trial, declared,
                fmt::format("bodies in the body of '{}' have more than {} operations",
                            declared.name, BodyTrial::kMostOps));
  }
  made.results = graph.results;
  // Only optional results may be lacking, and only if it is plain which they are.
  const bool has_many = std::ranges::any_of(signature.results, &Part::is_many);
  if (made.results.size() < result_count || (has_many && made.results.size() != result_count)) {
    return fail(trial, declared,
                fmt::format("the body of '{}' gives {}, the op has {}", declared.name,
                            counted(made.results.size(), "results"), result_count));
  }
  made.results.resize(result_count);
  const auto stated = result_types(signature, op, bindings, result_count);
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    const Type* type = made.plan.types[made.results[i]];
    if (i >= stated.size() || stated[i] == nullptr || type == nullptr) continue;
    if (compatible(type, seen_by_body(stated[i])) || compatible(type, stated[i])) continue;
    return fail(trial, declared,
                fmt::format("the body of '{}' gives result {} the type {}, its signature {}",
                            declared.name, i, type->spelling(), stated[i]->spelling()));
  }
  return true;
}

namespace {

/// Two ops with the same text have the same body.
std::string text_of(const patterns::PlannedOp& op, std::span<const Type* const> operands,
                    const IRContext& context) {
  std::string text = fmt::format("{} {}", op.name.info->name, context.text(op.name.device));
  for (const NamedAttr& each : op.attributes) {
    text += fmt::format(" {}:{}", context.text(each.key), each.value->spelling());
  }
  for (const Type* each : operands) text += fmt::format(" {}", fmt::ptr(each));
  return text + fmt::format(" {}", op.results.size());
}

}  // namespace

bool try_bodies_of(const BodyPlan& made, const DeclaredOp& declared, ExtentProver* prover,
                   IRContext& context, BodyTrial& trial) {
  bool are_good = true;
  patterns::visit_ops(made.plan.ops, [&](const patterns::PlannedOp& op) {
    const OpRow* const row = op.name.info->row;
    if (!are_good || row == nullptr || !row->try_body) return;
    std::vector<const Type*> operands;
    for (const std::uint32_t each : op.operands) operands.push_back(made.plan.types[each]);
    const std::string text = text_of(op, operands, context);
    if (trial.known.contains(text)) return;
    are_good = row->try_body({.context = context,
                              .row = *row,
                              .operands = operands,
                              .attributes = op.attributes,
                              .result_count = op.results.size(),
                              .device = op.name.device,
                              .prover = prover},
                             trial);
    if (are_good) {
      trial.known.insert(text);
    } else {
      trial.places.push_back(
          {op.at, fmt::format("'{}' in the body of '{}'", op.name.info->name, declared.name)});
    }
  });
  return are_good;
}

bool try_body(const DeclaredOp& declared, const InferRequest& op, BodyTrial& trial) {
  const Signature* signature = declared.signature_for(op.operands.size());
  if (signature == nullptr || !signature->has_body) return true;
  const OpFacts facts{op.context, op.row, op.operands, op.attributes, "name", op.prover};
  Refusal refusal;
  const auto bindings = bind(declared, *signature, facts, refusal);
  if (!bindings) return fail(trial, declared, std::move(refusal.message));
  BodyPlan made;
  return plan_body(declared, *signature, facts, *bindings, op.result_count, made, trial) &&
         try_bodies_of(made, declared, op.prover, op.context, trial);
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
  BodyTrial trial;
  const bool fits =
      plan_body(declared, *signature, facts, *bindings, op.result_count(), made, trial) &&
      (!declared.is_layer || try_bodies_of(made, declared, facts.prover, each.context(), trial));
  if (!fits) {
    Diagnostic& report = each.report(diag::kConditionViolated, op.span(), std::move(trial.message));
    if (declared.is_layer) note_places(report, trial);
    return false;
  }
  return RegionCheck(declared, each, made.plan).run(made.plan.ops);
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
  BodyTrial trial;
  if (!plan_body(declared, *signature, facts, *bindings, op.result_count(), made, trial)) {
    return refuse(diag::kNotExecutable, std::move(trial.message));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    made.plan.values[made.inputs[i]] = operands[i];
  }
  const bool is_new_graph = rewriter.insertion_block()->front() == nullptr;
  const auto values =
      patterns::make_graph(rewriter, made.plan, *rewriter.insertion_block()->parent());
  if (declared.is_layer) {
    name_values(rewriter, made.unfolded ? *made.unfolded : signature->body, values, is_new_graph);
  }
  std::vector<Value*> results;
  for (const std::uint32_t each : made.results) results.push_back(values[each]);
  return results;
}

}  // namespace mir::declare
