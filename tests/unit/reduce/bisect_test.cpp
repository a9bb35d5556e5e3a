// The pass and the rewrite after which something is true.
#include "reduce/bisect.hpp"

#include "../passes/known_passes.hpp"

using namespace mir;
using mir::test::Passes;
using mir::test::Reading;

namespace bisect_test {

namespace {

constexpr std::string_view kText =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%e:tensor<[2], Float32, CPU>) {
    linalg.CPU.NegOp (%x) -> (%a:tensor<[2], Float32, CPU>)
    linalg.CPU.NegOp (%a) -> (%b:tensor<[2], Float32, CPU>)
    linalg.CPU.AbsOp (%b) -> (%c:tensor<[2], Float32, CPU>)
    linalg.CPU.AbsOp (%c) -> (%d:tensor<[2], Float32, CPU>)
    linalg.CPU.SiLUOp (%d) -> (%e:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%e) -> ()
}
)";

std::size_t count_of(const Module& module, std::string_view word) {
  const std::string text = print(module);
  std::size_t count = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

Result<reduce::Culprit> culprit(std::string_view pipeline, std::string_view op,
                                std::size_t fewer_than) {
  Reading reading{std::string(kText)};
  Passes passes;
  const auto items = passes.read(pipeline);
  REQUIRE(items);
  const reduce::Judgement judgement = [&](const Module&, const Module& after) -> Result<bool> {
    return count_of(after, op) < fewer_than;
  };
  return reduce::bisect(reading.module(), *items, judgement);
}

}  // namespace

TEST_SUITE("bisection of pipelines") {
  TEST_CASE("the rewrite of the pass that removes an op is found") {
    const auto abs = culprit("cse,strip-locations,simplify,number-values", "AbsOp", 2);
    REQUIRE(abs);
    CHECK(abs->pass == 3);
    CHECK(abs->name == "simplify");
    REQUIRE(abs->rewrite);
    const auto neg = culprit("cse,strip-locations,simplify,number-values", "NegOp", 1);
    REQUIRE(neg);
    CHECK(neg->pass == 3);
    REQUIRE(neg->rewrite);
    CHECK(neg->rewrite->number != abs->rewrite->number);
    CHECK(neg->rewrite->root == "linalg.CPU.NegOp at test.mir:3:5");
    CHECK(spelling(*neg).starts_with("pass 3 'simplify', rewrite "));
  }

  TEST_CASE("a pass without patterns is found") {
    const auto named = culprit("cse,number-values,simplify", "%e", 1);
    REQUIRE(named);
    CHECK(spelling(*named) == "pass 2 'number-values'");
  }

  TEST_CASE("a judgement that never becomes true, or is true at first, is an error") {
    const auto never = culprit("cse,simplify", "SiLUOp", 1);
    REQUIRE_FALSE(never);
    CHECK(never.error().message == "the test does not hold after the last pass");
    const auto always = culprit("cse,simplify", "TanhOp", 1);
    REQUIRE_FALSE(always);
    CHECK(always.error().message == "the test holds before the first pass");
  }
}

}  // namespace bisect_test
