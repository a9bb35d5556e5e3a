// The passes of the build whose patterns are text: each file of this folder is one, with its name.
#include "ir/rewrite/bodies.hpp"
#include "mir/parse.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/generic/find_ops.hpp"
#include "passes/generic/generic_bodies.hpp"
#include "passes/layers/expand_layers.hpp"
#include "passes/rewrite/pattern_text.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr PatternText kTexts[] = {
#include "passes/embedded_patterns.inc"
};

struct Description {
  std::string_view name, summary;
};

constexpr Description kDescriptions[] = {
    {"decompose",
     "replaces compound operations by simpler ones that say what they mean, within a bound"},
    {"fuse-activations", "replaces chains by the activations that they compute, within a bound"},
    {"fuse-rotations", "replaces products with sines and cosines by RoPE, within a bound"},
    {"recompose",
     "replaces written-out activations, norms and Softmax by their operations, within a bound"},
    {"simplify-algebra", "applies identities of arithmetic that keep every number"},
    {"simplify-shapes", "removes moves of elements that undo or repeat each other"},
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

constexpr std::string_view kDecompose = "decompose", kRecompose = "recompose",
                           kOnlyBodies = "only-bodies", kTo = "to", kFrom = "from",
                           kSimpler = "simpler", kGeneric = "generic";

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
    walk(run.region(), [&](Op& op) {
      // The regions of an isolated op do not belong to the graph at hand.
      if (op.has(Trait::kIsolated) && op.first_region() != nullptr) return WalkResult::kSkip;
      if (!has_body(op)) return WalkResult::kContinue;
      if (is_layer(op)) {  // registers parameters, which other graphs may own
        run.count("layers left, for expand-layers");
        return WalkResult::kContinue;
      }
      if (added > kMostFromBodies) {
        run.count("bodies left, for the size");
        return WalkResult::kContinue;
      }
      Op* const before = op.previous();
      const Op* const next = op.next();
      Block& block = *op.block();
      if (replace_by_body(rewriter, op, ignored)) {
        has_changed = true;
        run.count("bodies inlined");
        added += count_from(before == nullptr ? block.front() : before->next(), next);
      }
      return WalkResult::kContinue;
    });
  }
}

std::function<PassResult(PassRun&)> after_bodies(std::function<PassResult(PassRun&)> next) {
  return [next = std::move(next)](PassRun& run) {
    replace_by_bodies(run);
    if (!run.options().flag(kOnlyBodies) && run.options().text(kTo) == kGeneric) {
      const FrozenPatterns patterns(generic_body_patterns(&run.analysis<ParameterTypes>()));
      return rewrite_greedily(run, patterns);
    }
    if (!run.options().flag(kOnlyBodies)) return next(run);
    // A body need not use all operands.
    if (run.result() == PassResult::kChanged) run.forget<DeadCode>();
    return run.result();
  };
}

/// Compound ops first: the ops that parts of their bodies could be would hide them.
std::function<PassResult(PassRun&)> unless_generic(std::function<PassResult(PassRun&)> next) {
  return [next = std::move(next)](PassRun& run) {
    if (run.options().text(kFrom) != kGeneric) return next(run);
    const ParameterTypes& parameters = run.analysis<ParameterTypes>();
    for (const FoundOps which : {FoundOps::kCompound, FoundOps::kSimple}) {
      const FrozenPatterns patterns(find_op_patterns(which, &parameters));
      if (rewrite_greedily(run, patterns) == PassResult::kFailed) return PassResult::kFailed;
    }
    return run.result();
  };
}

PassOption form_option(std::string_view name, std::string_view summary) {
  return {.name = std::string(name),
          .kind = PassOption::Kind::kText,
          .by_default = std::string(kSimpler),
          .summary = std::string(summary),
          .choices = {std::string(kSimpler), std::string(kGeneric)}};
}

}  // namespace

void register_pattern_library(PassRegistry& registry) {
  for (std::size_t i = 0; i < std::size(kTexts); ++i) {
    Pass pass = pass_of(kTexts[i].name, kDescriptions[i].summary);
    pass.patterns = [i](IRContext& context, const PassOptions& options) {
      if (kTexts[i].name == kDecompose) {
        if (options.flag(kOnlyBodies)) return PatternSet();
        if (options.text(kTo) == kGeneric) return generic_body_patterns(nullptr);
      }
      if (kTexts[i].name == kRecompose && options.text(kFrom) == kGeneric) {
        return find_op_patterns(FoundOps::kSimple, nullptr);
      }
      return read_again(kTexts[i], 0, context);
    };
    pass = pattern_pass(std::move(pass));
    if (kTexts[i].name == kDecompose) {
      pass.options.push_back({.name = std::string(kOnlyBodies),
                              .summary = "only operations whose declaration has a body"});
      pass.options.push_back(
          form_option(kTo, "replace by simpler ops, or by generic ops with the same bits"));
      pass.reads.add<ParameterTypes>();
      pass.run = after_bodies(std::move(pass.run));
    }
    if (kTexts[i].name == kRecompose) {
      pass.options.push_back(
          form_option(kFrom, "find ops in simpler ops, or in generic ops with the same bits"));
      pass.reads.add<ParameterTypes>();
      pass.run = unless_generic(std::move(pass.run));
    }
    registry.add(std::move(pass));
  }
}

}  // namespace mir
