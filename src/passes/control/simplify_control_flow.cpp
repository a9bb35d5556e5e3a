// Removes branches that are never taken, with the blocks that only they reach, loops that run at
// most once, and values that conditions and loops pass on needlessly.
#include <vector>

#include "ir/extent_walk.hpp"
#include "ir/rewrite/carried_scales.hpp"
#include "mir/rewriter.hpp"
#include "passes/control/constant_branches.hpp"
#include "passes/control/constant_loop.hpp"
#include "passes/control/passed_values.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

void take_branch(PassRun& run, Rewriter& rewriter, Op& op) {
  const auto condition = constant_element(*op.operand(0));
  if (!condition || !may_leave_regions(op) || finds_out_symbols(op)) return;
  Region* const taken = *condition != 0 ? op.first_region() : op.first_region()->next();
  if (taken == nullptr) return;
  replace_by_region(rewriter, op, *taken, {});
  run.count("branches taken");
}

void remove_loop(PassRun& run, Rewriter& rewriter, Op& loop) {
  const auto range = constant_range(loop);
  if (!range || range->count > 1) return;
  std::vector<Value*> carried;
  for (std::uint32_t i = 3; i < loop.operand_count(); ++i) carried.push_back(loop.operand(i));
  if (carried.size() != loop.result_count()) return;
  if (range->count == 0) {
    for (const Value& result : loop.results()) {
      carry_scales(rewriter, result, *carried[result.index()]);
    }
    rewriter.replace(loop, carried);
    run.count("loops without iterations removed");
  } else if (may_leave_regions(loop)) {
    carried.insert(carried.begin(), loop.operand(0));
    replace_by_region(rewriter, loop, *loop.first_region(), carried);
    run.count("loops of one iteration removed");
  }
}

void simplify_passed(PassRun& run, Rewriter& rewriter, Op& op) {
  const PassedValues done = simplify_passed_values(rewriter, op);
  if (done.forwarded != 0) run.count("passed values forwarded", done.forwarded);
  if (done.removed != 0) run.count("passed values removed", done.removed);
}

void clean_blocks(PassRun& run, Rewriter& rewriter, Region& region) {
  if (!region.has_several_blocks()) return;
  const BlockCleanup done = take_constant_branches(rewriter, region);
  run.count("branches taken", done.branches_taken);
  run.count("blocks removed", done.blocks_removed);
  run.count("blocks merged", done.blocks_merged);
}

PassResult simplify_control_flow(PassRun& run) {
  Rewriter rewriter(run.module());
  walk(run.region(), WalkOrder::kPostOrder, [&](Op& op) {
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      if (!op.has(Trait::kIsolated)) clean_blocks(run, rewriter, *region);
    }
    if (op.is(OpId::kCfIf)) {
      take_branch(run, rewriter, op);
    } else if (op.is(OpId::kCfFor)) {
      remove_loop(run, rewriter, op);
    }
    if (!op.is_erased()) simplify_passed(run, rewriter, op);
    return WalkResult::kContinue;
  });
  clean_blocks(run, rewriter, run.region());
  return run.result();
}

}  // namespace

Pass simplify_control_flow_pass() {
  return {.name = "simplify-control-flow",
          .summary =
              "removes branches that are never taken, blocks that nothing reaches, loops that run "
              "at most once and values that are passed on needlessly",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .preserves = AnalysisSet::of<SymbolRanges>(),
          .run = simplify_control_flow};
}

}  // namespace mir
