// Replaces loops of few iterations by their iterations.
#include <algorithm>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/control/constant_loop.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// More ops than this are not made of one loop: nested loops multiply.
constexpr std::uint64_t kMostOps = std::uint64_t{1} << 16;

bool is_small(const Op& loop, std::uint64_t count) {
  std::uint64_t ops = 0;
  for_each_op(*loop.first_region(), [&](const Op&) { ++ops; });
  return ops <= kMostOps / count;
}

Value* index_constant(Rewriter& rewriter, Op& loop, std::int64_t index) {
  IRContext& context = rewriter.context();
  const Attr* number = context.integer(index);
  const NamedAttr constant{key::kConstant, context.array({&number, 1})};
  return rewriter.constant(*loop.parent_region(),
                           {.type = loop.first_region()->entry_arguments().front().type(),
                            .attributes = {&constant, 1}});
}

void unroll(Rewriter& rewriter, Op& loop, const LoopRange& range) {
  std::vector<Value*> arguments(1);
  for (std::uint32_t i = 3; i < loop.operand_count(); ++i) arguments.push_back(loop.operand(i));
  for (std::uint64_t i = 0; i < range.count; ++i) {
    arguments.front() = index_constant(rewriter, loop, range.index(i));
    if (i + 1 == range.count)
      return replace_by_region(rewriter, loop, *loop.first_region(), arguments);
    RewriteMapping mapping;
    Op* copy = rewriter.clone(loop, mapping);  // detached
    const auto passed = rewriter.inline_region(*copy->first_region(), loop, arguments);
    rewriter.erase(*copy);
    std::ranges::copy(passed, arguments.begin() + 1);
  }
}

PassResult unroll_loops(PassRun& run) {
  Rewriter rewriter(run.module());
  const auto most = static_cast<std::uint64_t>(run.options().integer("most"));
  walk(run.region(), WalkOrder::kPostOrder, [&](Op& op) {
    const auto range = constant_range(op);
    const bool is_short = range && range->count > 0 && range->count <= most &&
                          op.operand_count() == op.result_count() + 3 &&
                          is_small(op, range->count) && may_leave_regions(op);
    if (is_short) {
      unroll(rewriter, op, *range);
      run.count("loops unrolled");
    }
    return WalkResult::kContinue;
  });
  return run.result();
}

}  // namespace

Pass unroll_loops_pass() {
  return {.name = "unroll-loops",
          .summary = "replaces loops of few iterations by their iterations",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .options = {{.name = "most",
                       .kind = PassOption::Kind::kInteger,
                       .by_default = "8",
                       .summary = "the largest number of iterations",
                       .least = 1,
                       .most = 1024}},
          .preserves = AnalysisSet::of<SymbolRanges>(),
          .run = unroll_loops};
}

}  // namespace mir
