#include <algorithm>

#include "checks.hpp"

namespace mir::checks {

namespace {

std::string describe_arity(Arity arity) {
  if (arity.max == Arity::kMany) return fmt::format("at least {}", arity.min);
  if (arity.min == arity.max) return fmt::format("{}", arity.min);
  return fmt::format("{} to {}", arity.min, arity.max);
}

void check_count(const Op& op, Diagnostics& diagnostics, std::string_view what, Arity arity,
                 std::size_t count) {
  if (arity.admits(count)) return;
  report(diagnostics, op, DiagCode::kWrongArity,
         fmt::format("'{}' has {} {}, expected {}", op.name(), count, what, describe_arity(arity)));
}

}  // namespace

void structure(const Op& op, Diagnostics& diagnostics) {
  const OpRow* row = op.row();
  if (row == nullptr) {
    report(diagnostics, op, DiagCode::kUnknownOp,
           fmt::format("operation '{}' is not known", text(op, op.op_name().spelling)));
    return;
  }
  if (has(row->traits, Trait::kDumpOnly)) {
    report(diagnostics, op, DiagCode::kDumpOnlyOp,
           fmt::format("'{}' has no place in a portable module", op.name()));
  }
  check_count(op, diagnostics, "operands", row->operands, op.operand_count());
  check_count(op, diagnostics, "results", row->results, op.result_count());
  check_count(op, diagnostics, "regions", row->regions, op.region_count());
  if (has(row->traits, Trait::kTerminator) && op.next() != nullptr) {
    report(diagnostics, op, DiagCode::kMisplacedTerminator,
           fmt::format("'{}' must be the last operation of its block", op.name()));
  }
  if (has(row->traits, Trait::kSymbol) && op.has_symbol()) {
    const Op* first = op.module().lookup_op(op.symbol());
    if (first != nullptr && first != &op) {
      Diagnostic& diagnostic = report(diagnostics, op, DiagCode::kDuplicateSymbol,
                                      fmt::format("symbol '@{}' is declared twice", text(op, op.symbol())));
      diagnostic.note({first->location().raw, first->location().raw}, "first declared here");
    }
  }
}

namespace {

/// Whether a region's `-> (results)` states what its return hands over.
void check_results(const Op& owner, const Region& region, Diagnostics& diagnostics) {
  const Op* last = region.last_block() == nullptr ? nullptr : region.last_block()->terminator();
  const std::string where = owner.is("builtin.ModuleOp") ? std::string("the module")
                                                         : fmt::format("graph '@{}'", text(owner, owner.symbol()));
  const bool declares_only = region.entry() == nullptr || region.arguments().empty();
  if (last == nullptr || !last->is("cf.ReturnOp")) {
    // Parameter lists and empty graphs return nothing and need no return.
    if (declares_only && region.results().empty()) return;
    report(diagnostics, owner, DiagCode::kMissingTerminator,
           fmt::format("{} does not end with cf.ReturnOp", where));
    return;
  }
  if (last->operand_count() != region.results().size()) {
    report(diagnostics, *last, DiagCode::kSignatureMismatch,
           fmt::format("{} returns {} values, its signature states {}", where, last->operand_count(),
                       region.results().size()));
    return;
  }
  for (std::uint32_t i = 0; i < last->operand_count(); ++i) {
    const Type* stated = region.results()[i].type;
    const Type* given = last->operand(i)->type();
    if (stated == nullptr || given == nullptr || compatible(stated, given)) continue;
    report(diagnostics, *last, DiagCode::kSignatureMismatch,
           fmt::format("result {} of {} is {}, its signature states {}", i, where, given->spelling(),
                       stated->spelling()));
  }
}

}  // namespace

void terminators(const Module& module, Diagnostics& diagnostics) {
  check_results(*module.top(), module.body(), diagnostics);
  for (Op* op : module.body().ops()) {
    if (const SubGraphOp graph = dyn_cast<SubGraphOp>(op); graph && graph.body() != nullptr) {
      check_results(*op, *graph.body(), diagnostics);
    }
  }
}

namespace {

/// Positions of the ops of one block, so that order is one comparison.
class BlockOrder {
 public:
  explicit BlockOrder(const Module& module) : position_(module.op_id_end()) {}

  void check(const Region& region, Diagnostics& diagnostics) {
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      std::uint32_t position = 0;
      for (Op* op : block->ops()) position_[op->id()] = position++;
      for (Op* op : block->ops()) check(*op, diagnostics);
    }
  }

 private:
  void check(const Op& op, Diagnostics& diagnostics) {
    for (const Use& use : op.operand_uses()) {
      const Op* definition = use.value()->defining_op();
      if (definition == nullptr || definition->block() != op.block()) continue;
      if (position_[definition->id()] < position_[op.id()]) continue;
      Diagnostic& diagnostic =
          report(diagnostics, op, DiagCode::kUseBeforeDefinition,
                 fmt::format("operand {} of '{}' is defined below its use", use.index(), op.name()));
      diagnostic.note({definition->location().raw, definition->location().raw}, "defined here");
    }
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      check(*inner, diagnostics);
    }
  }

  std::vector<std::uint32_t> position_;
};

}  // namespace

void order(const Module& module, Diagnostics& diagnostics) {
  BlockOrder(module).check(module.body(), diagnostics);
}

}  // namespace mir::checks
