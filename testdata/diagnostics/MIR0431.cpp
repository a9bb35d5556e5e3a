// Cause: The values that an op passes to a region, or a region passes to the next region or to the
// results, do not match in number or type.
//
// Fix: Pass one value of the right type for each argument and result. The page of the op describes
// which values are passed where.
#include <doctest/doctest.h>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/verify.hpp"

using namespace mir;

namespace {

/// Operands go to the region, and what the region yields to the results.
std::vector<RegionEdge> edges(const Op& op) {
  return {{.to = 0, .operand_count = op.operand_count()},
          {.from = 0, .operand_count = op.result_count()}};
}

constexpr OpRow kRows[] = {
    {.name = "scope",
     .operands = at_least(0),
     .results = at_least(0),
     .regions = exactly(1),
     .region_flow = edges},
    {.name = "yield", .operands = at_least(0), .traits = Trait::kTerminator}};
constexpr Dialect kDialect{.name = "my", .rows = kRows};

/// The diagnostics of a scope that is given `%x` and yields `yielded`.
std::vector<Diagnostic> reported(const std::string& yielded) {
  IRContext context;
  register_builtin_dialects(context);
  REQUIRE(context.register_dialect(kDialect));
  const std::string type = "tensor<[2], Float32, CPU>";
  const SourceFile* file = context.sources().add(
      "scope.mir", "@main [mir_version:1] (%x:" + type + ") -> () {\n    my.scope (%x) -> (%y:" +
                       type + ") {\n        (%a:" + type + ") -> () {\n            my.yield (" +
                       yielded + ") -> ()\n        }\n    }\n    cf.ReturnOp () -> ()\n}\n");
  Diagnostics diagnostics;
  verify(*read_modules(*file, context, diagnostics).front(), diagnostics);
  return diagnostics.sorted();
}

}  // namespace

TEST_CASE("MIR0431: refused") {
  const auto found = reported("");
  REQUIRE(found.size() == 1);
  CHECK(spelling(found[0].code) == "MIR0431");
  CHECK(found[0].message ==
        "'my.yield' passes 0 values to the results of 'my.scope', which takes 1");
}

TEST_CASE("MIR0431: accepted") {
  CHECK(reported("%a").empty());
}
