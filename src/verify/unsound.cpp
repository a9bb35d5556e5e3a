// Verification of modules whose text has errors.
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/verification.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "text/damaged_text.hpp"
#include "verify/constraint.hpp"

// note [sound ops]
// An error of an op follows from another one if something that the op is checked against is wrong:
// the op itself, the definition of an operand, or the contents of its regions. What is left out is
// thus checked after the other errors are repaired. Names, arities, attributes, callees and
// repeated symbols are checked against nothing but rows and symbols, so they are reported for all
// ops.

namespace mir {

namespace {

bool concerns_op_alone(DiagCode code) {
  constexpr DiagCode kCodes[] = {diag::kUnknownOp,        diag::kWrongArity,
                                 diag::kUnknownAttribute, diag::kUnknownCallee,
                                 diag::kAttributeKind,    diag::kDuplicateSymbol};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

/// Groups whose checks compare an op with its operands, its regions and the heads of graphs.
bool is_local(CheckGroup group) {
  constexpr CheckGroup kGroups[] = {CheckGroup::kStructure, CheckGroup::kAttributes,
                                    CheckGroup::kSsa,       CheckGroup::kTypes,
                                    CheckGroup::kShapes,    CheckGroup::kCalls};
  return std::ranges::find(kGroups, group) != std::end(kGroups);
}

CheckGroup group_of(const Diagnostic& breach) {
  const std::string_view id =
      std::string_view(breach.constraint).substr(0, breach.constraint.find(':'));
  const auto found = std::ranges::find(constraints(), id, &Constraint::id);
  return found == constraints().end() ? CheckGroup::kShapes : found->group;
}

using Ops = std::vector<std::pair<SourcePos, const Op*>>;

/// The ops in the order of the text.
Ops ops_of(std::span<Module* const> modules) {
  Ops ops;
  for (const Module* module : modules) {
    ops.emplace_back(module->top()->span().begin, module->top());
    for_each_op(*module, [&](const Op& op) { ops.emplace_back(op.span().begin, &op); });
  }
  std::ranges::sort(ops);
  return ops;
}

/// The op whose head a place is in; null if there is none.
const Op* op_at(const Ops& ops, SourcePos at) {
  const auto next = std::ranges::upper_bound(ops, at, {}, &Ops::value_type::first);
  return next == ops.begin() ? nullptr : std::prev(next)->second;
}

/// An op whose body is not closed, and where that was noticed. What follows may be outside of it.
struct UnclosedOp {
  const Op* op;
  SourcePos noticed;
};

/// Errors of syntax have a note at the brace that is not closed.
std::vector<UnclosedOp> unclosed_ops(const Ops& ops, std::span<const Diagnostic> known) {
  std::vector<UnclosedOp> unclosed;
  for (const Diagnostic& each : known) {
    if (each.code != diag::kUnexpectedToken) continue;
    for (const Note& note : each.notes) {
      const Op* op = note.at.known() ? op_at(ops, note.at.begin) : nullptr;
      if (op != nullptr) unclosed.push_back({op, each.at.begin});
    }
  }
  return unclosed;
}

bool is_inside(const Op* op, const Op* outer) {
  while (op != nullptr && op != outer) op = op->parent_op();
  return op == outer;
}

/// Values that a region without its closing brace hides from what follows it.
void withdraw_hidden_values(const Ops& ops, std::span<const UnclosedOp> unclosed,
                            Diagnostics& diagnostics) {
  if (unclosed.empty()) return;
  diagnostics.withdraw([&](const Diagnostic& each) {
    return each.code == diag::kUndefinedValue &&
           std::ranges::any_of(unclosed, [&](const UnclosedOp& outer) {
             return each.at.begin > outer.noticed && is_inside(op_at(ops, each.at.begin), outer.op);
           });
  });
}

/// See note [sound ops].
class UnsoundOps {
 public:
  UnsoundOps(std::span<Module* const> modules, const Ops& ops, std::span<const Diagnostic> known,
             std::span<const UnclosedOp> unclosed) {
    for (const UnclosedOp& each : unclosed) add_parents(each.op);
    for (const auto& [at, op] : ops) {
      const auto has_no_type = [](const Use& use) { return use.value()->type() == nullptr; };
      if (std::ranges::any_of(op->operand_uses(), has_no_type)) add(*op);
    }
    for (Module* module : modules) {
      for (const Op* op : module->notes<DamagedText>().parents) add_parents(op);
    }
    constexpr auto kFirstOfResolve = static_cast<DiagCode>(300);
    for (const Diagnostic& each : known) {
      if (each.severity != Severity::kError || each.code < kFirstOfResolve) continue;
      if (const Op* op = op_at(ops, each.at.begin)) add(*op);
    }
    while (!pending_.empty()) {
      const Op* op = pending_.back();
      pending_.pop_back();
      add_parents(op->parent_op());
      for (const Value& result : op->results()) {
        for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
          add(*use->user());
        }
      }
    }
  }

  bool contains(const Op* op) const { return ops_.contains(op) || has_in_regions(op); }
  bool has_in_regions(const Op* op) const { return parents_.contains(op); }

 private:
  void add(const Op& op) {
    if (ops_.insert(&op).second) pending_.push_back(&op);
  }
  void add_parents(const Op* op) {
    while (op != nullptr && parents_.insert(op).second) op = op->parent_op();
  }

  std::unordered_set<const Op*> ops_;
  std::unordered_set<const Op*> parents_;  // of those
  std::vector<const Op*> pending_;
};

/// Results whose types are not known because their op is wrong.
void withdraw_follow_on(const Ops& ops, std::span<const Diagnostic> found,
                        Diagnostics& diagnostics) {
  std::vector<SourcePos> causes;
  for (const Diagnostic& each : found) {
    const Op* op = concerns_op_alone(each.code) ? op_at(ops, each.at.begin) : nullptr;
    if (op != nullptr) causes.push_back(op->span().begin);
  }
  if (causes.empty()) return;
  std::ranges::sort(causes);
  diagnostics.withdraw([&](const Diagnostic& each) {
    if (each.code != diag::kTypeMissing) return false;
    const Op* op = op_at(ops, each.at.begin);
    return op != nullptr && std::ranges::binary_search(causes, op->span().begin);
  });
}

/// True if the callee may be in text that cannot be read.
bool may_be_declared(std::span<Module* const> modules, const Op* call) {
  return std::ranges::any_of(modules, [&](Module* module) {
    const DamagedText& damage = module->notes<DamagedText>();
    if (damage.head) return true;
    return call != nullptr && &call->module() == module &&
           damage.symbols.contains(std::string(module->context().text(call->symbol())));
  });
}

}  // namespace

void verify_unsound(std::span<Module* const> all, Diagnostics& diagnostics,
                    const VerifyOptions& options) {
  VerifyOptions errors_only = options;
  errors_only.report_findings = false;
  constexpr std::size_t kMost = 1000;
  Diagnostics found(kMost);
  const std::vector<Diagnostic> known = diagnostics.sorted();
  // What another version of the language means is not for this one to judge.
  std::vector<Module*> modules;
  std::ranges::copy_if(all, std::back_inserter(modules), [&](const Module* module) {
    return std::ranges::none_of(known, [&](const Diagnostic& each) {
      return each.code == diag::kUnsupportedVersion && each.at.begin == module->top()->span().begin;
    });
  });
  for (const Module* module : modules) verify(*module, found, errors_only);
  const Ops ops = ops_of(modules);
  std::vector<Diagnostic> breaches = found.sorted();
  withdraw_follow_on(ops, breaches, diagnostics);
  const std::vector<UnclosedOp> unclosed = unclosed_ops(ops, known);
  withdraw_hidden_values(ops, unclosed, diagnostics);
  std::vector<Diagnostic> causes = known;
  std::ranges::copy_if(breaches, std::back_inserter(causes),
                       [](const Diagnostic& each) { return concerns_op_alone(each.code); });
  const UnsoundOps unsound(modules, ops, causes, unclosed);
  std::set<std::pair<DiagCode, SourcePos>> said;
  for (const Diagnostic& each : known) said.emplace(each.code, each.at.begin);
  for (Diagnostic& each : breaches) {
    const Op* op = op_at(ops, each.at.begin);
    if (said.contains({each.code, each.at.begin})) continue;
    if (each.code == diag::kUnknownCallee && may_be_declared(modules, op)) continue;
    if (each.code == diag::kWrongArity && unsound.has_in_regions(op)) continue;
    const bool is_certain = is_local(group_of(each)) && op != nullptr && !unsound.contains(op);
    if (!is_certain && !concerns_op_alone(each.code)) continue;
    diagnostics.error(each.code, each.at, {}) = std::move(each);
  }
}

}  // namespace mir
