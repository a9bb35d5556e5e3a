// Cause: A pass or pattern breaks its own declaration: the pass edits and returns that it changed
// nothing, changes an analysis that it declares to preserve, reads an analysis that it does not
// declare, edits outside the graph on which it runs, or fails without an error; the pattern edits
// while it matches, or creates ops that it does not declare. Later passes would rely on wrong
// facts. The fault is in the pass or pattern.
//
// Fix: Return `run.result()` at the end of the pass; remove the analysis from `preserves`, or add
// it to `reads`; add the op to `makes` of the pattern.
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
  CHECK(found[0].message ==
        "pass 'rename' declares that it changed nothing, but it edited the module");
}

TEST_CASE("MIR0921: accepted") {
  CHECK(reported(PassResult::kChanged).empty());
}
