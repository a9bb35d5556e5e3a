// Moves what a loop computes anew in each iteration, with the same result, before the loop.
#include <algorithm>
#include <vector>

#include "ir/extent_walk.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "mir/rewriter.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// An op that may refuse its operands stays: a loop without iterations does not run it.
bool can_hoist(const PassRun& run, const Op& op) {
  return !op.has(Trait::kTerminator) && op.first_region() == nullptr && op.result_count() > 0 &&
         run.analysis<Effects>().is_pure(op) && !finds_out_symbols(op) &&
         !run.analysis<Refusals>().may_refuse(op);
}

bool is_inside(const Value& value, const Op& loop) {
  const Block* block = value.argument_of();
  const Op* at = block != nullptr ? block->parent()->parent() : value.defining_op();
  while (at != nullptr && at != &loop) at = at->parent_op();
  return at == &loop && value.defining_op() != &loop;
}

bool is_invariant(const Op& op, const Op& loop) {
  return std::ranges::none_of(op.operand_uses(), [&](const Use& use) {
    return !use.value()->is_free() && is_inside(*use.value(), loop);
  });
}

void hoist(PassRun& run, Rewriter& rewriter, Op& loop) {
  const auto bound = symbols_bound_in(loop);
  for (Region* region = loop.first_region(); region != nullptr; region = region->next()) {
    for (Block* block : region->blocks()) {
      const std::vector<Op*> ops(block->ops().begin(), block->ops().end());
      for (Op* op : ops) {
        if (!is_invariant(*op, loop) || has_symbol_of(*op, bound) || !can_hoist(run, *op)) continue;
        rewriter.move_before(*op, loop);
        run.count("operations hoisted");
      }
    }
  }
}

/// Inner loops come first, so that what they give up can leave outer ones, too.
void hoist_in(PassRun& run, Rewriter& rewriter, Region& region) {
  RegionWalk ops(region);
  while (Op* op = ops.next()) {
    if (op->has(Trait::kIsolated)) continue;
    for (Region* in = op->first_region(); in != nullptr; in = in->next()) {
      hoist_in(run, rewriter, *in);
    }
    if (is_loop(*op)) hoist(run, rewriter, *op);
  }
}

PassResult hoist_invariants(PassRun& run) {
  Rewriter rewriter(run.module());
  hoist_in(run, rewriter, run.region());
  return run.result();
}

}  // namespace

Pass hoist_invariants_pass() {
  return {.name = "hoist-invariants",
          .summary = "moves operations before a loop if each iteration computes the same",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .reads = AnalysisSet::of<Effects, Refusals>(),
          .preserves = AnalysisSet::of<Aliases, SymbolRanges, Effects>(),
          .run = hoist_invariants};
}

}  // namespace mir
