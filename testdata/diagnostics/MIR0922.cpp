// Cause: Patterns reach no fixed point: two undo each other, one matches its own result, or one
// matches without a change.
//
// Fix: Define the normal form, and let each pattern match only ops that are not in it.
#include <doctest/doctest.h>

#include "mir/dialects.hpp"
#include "mir/rewrite_patterns.hpp"

using namespace mir;

namespace {

/// Exchanges the operands of an addition if `wanted` is true of them.
RewritePattern exchange(bool (*wanted)(const Value& first, const Value& second)) {
  return {.name = "exchange",
          .roots = {.names = {"linalg.AddOp"}},
          .claim = {.kind = RewriteClaim::Kind::kValue},
          .match =
              [wanted](Op& op) {
                Value *const first = op.operand(0), *const second = op.operand(1);
                return wanted(*first, *second) ? PatternMatch::of({&op}, {first, second})
                                               : PatternMatch::failed("they are in order", op);
              },
          .rewrite =
              [](Rewriter& rewriter, const PatternMatch& match) {
                rewriter.set_operand(match.root(), 0, &match.value(1));
                rewriter.set_operand(match.root(), 1, &match.value(0));
              }};
}

/// The diagnostics of a run on `%y + %x`, where %x is the first input.
std::vector<Diagnostic> reported(const RewritePattern& pattern) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add(
      "sum.mir",
      "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>, %y:tensor<[2], Float32, CPU>) -> "
      "(%z:tensor<[2], Float32, CPU>) {\n"
      "    linalg.CPU.AddOp(%y, %x) -> (%z:tensor<[2], Float32, CPU>)\n"
      "    cf.ReturnOp (%z) -> ()\n}\n");
  Diagnostics diagnostics;
  Module& module = *read_modules(*file, context, diagnostics).front();
  PatternSet patterns;
  patterns.add(pattern);
  rewrite_greedily(module, module.body(), FrozenPatterns(std::move(patterns)), {}, diagnostics);
  return diagnostics.sorted();
}

}  // namespace

TEST_CASE("MIR0922: refused") {
  const auto found = reported(exchange([](const Value&, const Value&) { return true; }));
  REQUIRE(found.size() == 1);
  CHECK(spelling(found[0].code) == "MIR0922");
  CHECK(found[0].message.ends_with("pattern 'exchange' matches its own result"));
}

TEST_CASE("MIR0922: accepted") {
  const auto in_order = [](const Value& first, const Value& second) {
    return first.index() > second.index();
  };
  CHECK(reported(exchange(in_order)).empty());
}
