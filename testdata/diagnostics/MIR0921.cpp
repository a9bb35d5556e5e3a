// Cause: A pass says that it changed nothing, that it preserves an analysis, or that it failed and
// reported why, and that is not so. What runs after it would rely on facts that are wrong. The
// fault is in the pass.
//
// Fix: Return `run.result()` at the end of the pass, which says what happened; take the analysis
// out of `preserves`.
#include <doctest/doctest.h>

#include "mir/dialects.hpp"
#include "mir/pass.hpp"
#include "mir/rewriter.hpp"

using namespace mir;

namespace {

/// What is reported of a pass that renames the module and then returns `said`.
std::vector<Diagnostic> reported(PassResult said) {
  IRContext context;
  register_builtin_dialects(context);
  Module& module = context.create_module("main");
  PassRegistry registry;
  registry.add({.name = "rename", .summary = "renames the module", .run = [&](PassRun& run) {
                  Rewriter(run.module()).set_symbol(run.anchor(), context.intern("other"));
                  return said;
                }});
  Diagnostics diagnostics;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", "rename", 1), diagnostics);
  REQUIRE(pipeline);
  run_pipeline(module, *pipeline, {}, diagnostics);
  return diagnostics.sorted();
}

}  // namespace

TEST_CASE("MIR0921: refused") {
  const auto found = reported(PassResult::kUnchanged);
  REQUIRE(found.size() == 1);
  CHECK(spelling(found[0].code) == "MIR0921");
  CHECK(found[0].message == "pass 'rename' says that it changed nothing, which is not so");
}

TEST_CASE("MIR0921: accepted") {
  CHECK(reported(PassResult::kChanged).empty());
}
