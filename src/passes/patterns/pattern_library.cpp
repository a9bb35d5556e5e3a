// The passes of the build whose patterns are text: each file of this folder is one, with its name.
#include "ir/rewrite/bodies.hpp"
#include "mir/parse.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/rewrite/pattern_text.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr PatternText kTexts[] = {
#include "passes/embedded_patterns.inc"
};

struct Description {
  std::string_view name, summary, example;
};

constexpr Description kDescriptions[] = {
    {"decompose",
     "replaces compound operations by simpler ones that say what they mean, within a bound",
     R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%z:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.SoftmaxOp [axis:-1] (%x) -> (%y:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ReLUOp(%y) -> (%z:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
    {"fuse-activations", "replaces chains by the activations that they compute, within a bound",
     R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%z:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.SigmoidOp(%x) -> (%y:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.MulOp(%x, %y) -> (%z:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
    {"fuse-rotations", "replaces products with sines and cosines by RoPE, within a bound",
     R"(@main [mir_version:1] (%x:tensor<[1, 4, 2, 6], Float32, CPU>, %angles:tensor<[1, 2, 3], Float32, CPU>) -> (%z:tensor<[1, 4, 2, 6], Float32, CPU>) {
    linalg.CPU.ConcatOp [dim:-1] (%angles, %angles) -> (%wide:tensor<[1, 2, 6], Float32, CPU>)
    linalg.CPU.CosOp(%wide) -> (%c:tensor<[1, 2, 6], Float32, CPU>)
    linalg.CPU.SinOp(%wide) -> (%s:tensor<[1, 2, 6], Float32, CPU>)
    linalg.CPU.ViewOp [to_shape:[1, 1, 2, 6]] (%c) -> (%cos:tensor<[1, 1, 2, 6], Float32, CPU>)
    linalg.CPU.ViewOp [to_shape:[1, 1, 2, 6]] (%s) -> (%sin:tensor<[1, 1, 2, 6], Float32, CPU>)
    linalg.CPU.SliceOp [indices:[{}, {}, {}, {"end":3}]] (%x) -> (%x1:tensor<[1, 4, 2, 3], Float32, CPU>)
    linalg.CPU.SliceOp [indices:[{}, {}, {}, {"start":3}]] (%x) -> (%x2:tensor<[1, 4, 2, 3], Float32, CPU>)
    linalg.CPU.NegOp(%x2) -> (%m:tensor<[1, 4, 2, 3], Float32, CPU>)
    linalg.CPU.ConcatOp [dim:-1] (%m, %x1) -> (%r:tensor<[1, 4, 2, 6], Float32, CPU>)
    linalg.CPU.MulOp(%x, %cos) -> (%p:tensor<[1, 4, 2, 6], Float32, CPU>)
    linalg.CPU.MulOp(%r, %sin) -> (%q:tensor<[1, 4, 2, 6], Float32, CPU>)
    linalg.CPU.AddOp(%p, %q) -> (%z:tensor<[1, 4, 2, 6], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
    {"recompose",
     "replaces written-out activations, norms and Softmax by their operations, within a bound",
     R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%z:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.ReduceMaxOp [dim:-1, keep_dim:true] (%x) -> (%m:tensor<[2, 1], Float32, CPU>)
    linalg.CPU.SubOp(%x, %m) -> (%d:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ExpOp(%d) -> (%e:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ReduceSumOp [dim:-1, keep_dim:true] (%e) -> (%s:tensor<[2, 1], Float32, CPU>)
    linalg.CPU.DivOp(%e, %s) -> (%z:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
    {"simplify-algebra", "applies identities of arithmetic that keep every number",
     R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>, %y:tensor<[3], Float32, CPU>) -> (%z:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.NegOp(%y) -> (%a:tensor<[3], Float32, CPU>)
    linalg.CPU.SubOp(%x, %a) -> (%b:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.DivOp(%b, %c:tensor<[1], Float32, CPU>[constant:[4]]) -> (%d:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.MulOp(%d, %e:tensor<[1], Float32, CPU>[constant:[1]]) -> (%z:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
    {"simplify-shapes", "removes moves of elements that undo or repeat each other",
     R"(@main [mir_version:1] (%x:tensor<[2, 3, 5], Float32, CPU>) -> (%z:tensor<[6, 5], Float32, CPU>) {
    linalg.CPU.PermuteOp [axis:[1, 2, 0]] (%x) -> (%a:tensor<[3, 5, 2], Float32, CPU>)
    linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%a) -> (%b:tensor<[2, 3, 5], Float32, CPU>)
    linalg.CPU.ViewOp [to_shape:[5, 6]] (%b) -> (%c:tensor<[5, 6], Float32, CPU>)
    linalg.CPU.ViewOp [to_shape:[6, 5]] (%c) -> (%z:tensor<[6, 5], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)"},
};

constexpr bool are_described() {
  if (std::size(kTexts) != std::size(kDescriptions)) return false;
  for (std::size_t i = 0; i < std::size(kTexts); ++i) {
    if (kTexts[i].name != kDescriptions[i].name) return false;
  }
  return true;
}
static_assert(are_described());

}  // namespace

namespace {

constexpr std::string_view kDecompose = "decompose", kOnlyBodies = "only-bodies";

/// Bodies in bodies can multiply without end, so a graph grows by no more operations than this and
/// the last body.
constexpr std::size_t kMostFromBodies = std::size_t{1} << 15;

/// How many ops there are from `first` on and before `end`, those in their regions included.
std::size_t count_from(const Op* first, const Op* end) {
  std::size_t count = 0;
  for (const Op* op = first; op != end; op = op->next()) {
    ++count;
    for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, [&](const Op&) { ++count; });
    }
  }
  return count;
}

/// Replaces ops by their bodies, also those in bodies.
void replace_by_bodies(PassRun& run) {
  Rewriter rewriter(run.module());
  Diagnostics ignored(1);  // an op whose body does not fit it stays
  std::size_t added = 0;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    walk(run.module(), run.region(), WalkOrder::kPreOrder, [&](Op& op) {
      if (!has_body(op)) return WalkResult::WALK_CONTINUE;
      if (added > kMostFromBodies) {
        run.count("bodies left, for the size");
        return WalkResult::WALK_CONTINUE;
      }
      Op* const before = op.previous();
      const Op* const next = op.next();
      Block& block = *op.block();
      if (replace_by_body(rewriter, op, ignored)) {
        has_changed = true;
        run.count("bodies inlined");
        added += count_from(before == nullptr ? block.front() : before->next(), next);
      }
      return WalkResult::WALK_CONTINUE;
    });
  }
}

std::function<PassResult(PassRun&)> after_bodies(std::function<PassResult(PassRun&)> next) {
  return [next = std::move(next)](PassRun& run) {
    replace_by_bodies(run);
    if (!run.options().flag(kOnlyBodies)) return next(run);
    // A body need not use all operands.
    if (run.result() == PassResult::kChanged) run.forget<DeadCode>();
    return run.result();
  };
}

}  // namespace

void register_pattern_library(PassRegistry& registry) {
  for (std::size_t i = 0; i < std::size(kTexts); ++i) {
    Pass pass = pass_of(kTexts[i].name, kDescriptions[i].summary);
    pass.example = kDescriptions[i].example;
    pass.patterns = [i](IRContext& context, const PassOptions& options) {
      return kTexts[i].name == kDecompose && options.flag(kOnlyBodies)
                 ? PatternSet()
                 : read_again(kTexts[i], 0, context);
    };
    pass = pattern_pass(std::move(pass));
    if (kTexts[i].name == kDecompose) {
      pass.options.push_back({.name = std::string(kOnlyBodies),
                              .summary = "only operations whose declaration has a body"});
      pass.run = after_bodies(std::move(pass.run));
    }
    registry.add(std::move(pass));
  }
}

}  // namespace mir
