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

void check_unique(const Op& op, Symbol symbol, const Op* first, Diagnostics& diagnostics) {
  if (first == nullptr || first == &op) return;
  Diagnostic& diagnostic = report(diagnostics, op, DiagCode::kDuplicateSymbol,
                                  fmt::format("symbol '@{}' is declared twice", text(op, symbol)));
  diagnostic.note(first->span(), "first declared here");
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
    check_unique(op, op.symbol(), op.module().lookup_op(op.symbol()), diagnostics);
  }
  for (const Value& result : op.results()) {
    const Value* first = result.has_symbol() ? op.module().lookup_value(result.symbol()) : nullptr;
    check_unique(op, result.symbol(), first == nullptr ? nullptr : first->defining_op(),
                 diagnostics);
  }
}

namespace {

/// Whether a region's `-> (results)` states what its return hands over.
void check_results(const Op& owner, const Region& region, Diagnostics& diagnostics) {
  const Op* last = region.last_block() == nullptr ? nullptr : region.last_block()->terminator();
  const std::string where = owner.is("builtin.ModuleOp")
                                ? std::string("the module")
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
           fmt::format("{} returns {} values, its signature states {}", where,
                       last->operand_count(), region.results().size()));
    return;
  }
  for (std::uint32_t i = 0; i < last->operand_count(); ++i) {
    const Type* stated = region.results()[i].type;
    const Type* given = last->operand(i)->type();
    if (stated == nullptr || given == nullptr || compatible(stated, given)) continue;
    report(diagnostics, *last, DiagCode::kSignatureMismatch,
           fmt::format("result {} of {} is {}, its signature states {}", i, where,
                       given->spelling(), stated->spelling()));
  }
}

}  // namespace

void terminators(const Module& module, Diagnostics& diagnostics) {
  check_results(*module.top(), module.body(), diagnostics);
  IRWriter walker(const_cast<Module&>(module));
  walker.walk<SubGraphOp>([&](IRWriter&, SubGraphOp graph) {
    if (graph.body() != nullptr) check_results(*graph.op(), *graph.body(), diagnostics);
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
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
      const Value& value = *use.value();
      // A use inside a region counts where the region's op stands.
      const Op* user = user_in(home_of(value), op);
      if (user == nullptr) {
        report(diagnostics, op, DiagCode::kValueNotVisible,
               fmt::format("operand {} of '{}' belongs to a region that is not seen from here",
                           use.index(), op.name()));
        continue;
      }
      const Op* definition = value.defining_op();
      if (definition == nullptr || definition->block() != user->block() ||
          position_[definition->id()] < position_[user->id()]) {
        continue;
      }
      Diagnostic& diagnostic = report(
          diagnostics, op, DiagCode::kUseBeforeDefinition,
          fmt::format("operand {} of '{}' is defined below its use", use.index(), op.name()));
      diagnostic.note(definition->span(), "defined here");
    }
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      check(*inner, diagnostics);
    }
  }

  static const Region* home_of(const Value& value) {
    if (value.is_argument()) return value.argument_of()->parent();
    return value.is_free() ? value.free_in() : value.defining_op()->parent_region();
  }

  /// The op of region `home` that is `op` or holds it; null when isolated regions or none lie
  /// between.
  static const Op* user_in(const Region* home, const Op& op) {
    for (const Op* user = &op; home != nullptr && user != nullptr; user = user->parent_op()) {
      if (user->parent_region() == home) return user;
      const Op* parent = user->parent_op();
      if (parent != nullptr && parent->row() != nullptr &&
          has(parent->row()->traits, Trait::kIsolated)) {
        return nullptr;
      }
    }
    return nullptr;
  }

  std::vector<std::uint32_t> position_;
};

}  // namespace

void order(const Module& module, Diagnostics& diagnostics) {
  BlockOrder(module).check(module.body(), diagnostics);
}

}  // namespace mir::checks
