// Cause: Patterns rewrite what others made, again and again: two undo each other, one fits what it
// makes, or one says that it rewrote an op and changed nothing.
//
// Fix: Decide which form is the normal one, and let no pattern lead away from it; give false where
// nothing was changed.
#include <doctest/doctest.h>

#include "mir/dialects.hpp"
#include "mir/rewrite_patterns.hpp"

using namespace mir;

namespace {

/// Exchanges the operands of an addition, where `wanted` is true of them.
RewritePattern exchange(bool (*wanted)(const Value& first, const Value& second)) {
  return {.name = "exchange",
          .fits = [](const OpKindInfo& kind) { return kind.name == "linalg.AddOp"; },
          .rewrite =
              [wanted](Rewriter& rewriter, Op& op) {
                Value *const first = op.operand(0), *const second = op.operand(1);
                if (!wanted(*first, *second)) return false;
                rewriter.set_operand(op, 0, second);
                rewriter.set_operand(op, 1, first);
                return true;
              }};
}

/// What is reported of a run over `%y + %x`, where %x is the first input.
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
  PassRegistry registry;
  registry.add({.name = "order", .summary = "orders operands", .run = [&](PassRun& run) {
                  return rewrite_greedily(run, patterns);
                }});
  const auto pipeline = registry.read_pipeline(SourceFile("-p", "order", 1), diagnostics);
  run_pipeline(module, *pipeline, {}, diagnostics);
  return diagnostics.sorted();
}

}  // namespace

TEST_CASE("MIR0922: refused") {
  const auto found = reported(exchange([](const Value&, const Value&) { return true; }));
  REQUIRE(found.size() == 1);
  CHECK(spelling(found[0].code) == "MIR0922");
  CHECK(found[0].message.ends_with("pattern 'exchange' fits what it makes"));
}

TEST_CASE("MIR0922: accepted") {
  const auto in_order = [](const Value& first, const Value& second) {
    return first.index() > second.index();
  };
  CHECK(reported(exchange(in_order)).empty());
}
