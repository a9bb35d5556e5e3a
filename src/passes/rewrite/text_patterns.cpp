// Patterns that are written as text, for the drivers of patterns.
#include "mir/rewrite_patterns.hpp"
#include "passes/rewrite/pattern_text.hpp"
#include "patterns/match.hpp"
#include "patterns/pattern.hpp"

namespace mir {

namespace {

using patterns::Mismatch;
using patterns::Pattern;
using patterns::Plan;

OperandDefinitions definitions_of(const Pattern& pattern) {
  const patterns::OpTemplate& root = pattern.root();
  const auto kind = [&](std::size_t operand) -> std::optional<OpKind> {
    if (operand >= root.operands.size()) return std::nullopt;
    const patterns::ValueTemplate& value = pattern.match.values[root.operands[operand]];
    if (value.constant) return OperandDefinitions::kConstant;
    if (value.op == patterns::ValueTemplate::kNone) return std::nullopt;
    return pattern.match.ops[value.op].kind;
  };
  return {.first = kind(0), .second = kind(1), .commute = root.is_commutative};
}

RewritePattern rewrite_pattern(std::shared_ptr<const Pattern> pattern) {
  RewritePattern made{.name = pattern->name,
                      .benefit = pattern->benefit,
                      .roots = {.names = {std::string(pattern->root().info->name)}},
                      .definitions = definitions_of(*pattern),
                      .claim = claim_of(*pattern)};
  for (const patterns::OpTemplate& op : pattern->rewrite.ops) {
    made.makes.emplace_back(op.info->name);
  }
  made.match = [pattern](Op& root) {
    Mismatch mismatch;
    auto plan = patterns::match(*pattern, root, false, mismatch);
    if (!plan) return PatternMatch::failed("the pattern differs", *mismatch.at);
    auto kept = std::make_shared<Plan>(*std::move(plan));
    std::vector<Op*> ops = kept->matched;
    return PatternMatch::of(std::move(ops), {}, std::move(kept));
  };
  made.rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
    patterns::apply(rewriter, match.plan<Plan>());
  };
  made.explain = [pattern](Op& root) {
    Mismatch mismatch;
    patterns::match(*pattern, root, true, mismatch);
    return PatternMismatch{.condition = std::move(mismatch.reason), .at = mismatch.at};
  };
  return made;
}

}  // namespace

RewriteClaim claim_of(const patterns::Pattern& pattern) {
  if (pattern.claim == "bits") return {};
  if (pattern.claim == "value") return {.kind = RewriteClaim::Kind::kValue};
  RewriteClaim claim{.kind = RewriteClaim::Kind::kBound,
                     .relative = pattern.relative,
                     .absolute = pattern.absolute,
                     .only_finite = true};
  if (pattern.largest > 0) claim.largest = pattern.largest;
  return claim;
}

bool add_patterns(PatternSet& set, const Module& module, Diagnostics& diagnostics) {
  bool is_good = true;
  for (const Block* block : module.body().blocks()) {
    for (const Op* op : block->ops()) {
      if (!op->is(OpId::kPatternRewrite)) continue;
      auto read = patterns::read_patterns(*op, diagnostics);
      is_good = is_good && !read.empty();
      for (auto& pattern : read) set.add(rewrite_pattern(std::move(pattern)));
    }
  }
  return is_good;
}

}  // namespace mir
