// Cause: After a conversion, an op remains that its target declares illegal: no pattern has the op
// as its root, or none matches it. The notes name the condition that failed for each pattern.
//
// Fix: Add a pattern for the op, or declare it legal in the target.
#include <doctest/doctest.h>

#include "mir/conversion.hpp"
#include "mir/dialects.hpp"

using namespace mir;

namespace {

/// The diagnostics of a conversion without patterns, where negations have this legality.
std::vector<Diagnostic> reported(Legality legality) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add(
      "neg.mir",
      "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
      "    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)\n"
      "    cf.ReturnOp (%y) -> ()\n}\n");
  Diagnostics diagnostics;
  Module& module = *read_modules(*file, context, diagnostics).front();
  ConversionTarget target;
  target.set("linalg.NegOp", legality);
  const bool good = convert(module, target, FrozenPatterns(PatternSet()), {}, diagnostics);
  CHECK(good != diagnostics.has_errors());
  return diagnostics.sorted();
}

}  // namespace

TEST_CASE("MIR0923: refused") {
  const auto found = reported(Legality::kIllegal);
  REQUIRE(found.size() == 1);
  CHECK(spelling(found[0].code) == "MIR0923");
  CHECK(found[0].message == "operation 'linalg.NegOp' stays illegal");
}

TEST_CASE("MIR0923: accepted") {
  CHECK(reported(Legality::kLegal).empty());
}
