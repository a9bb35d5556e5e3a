// The pass and the rewrite after which something is true.
#include "reduce/bisect.hpp"

#include "../passes/known_passes.hpp"
#include "mir/codes/runs.hpp"

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
    const auto named = culprit("cse,number-values,simplify", "%c", 1);
    REQUIRE(named);
    CHECK(spelling(*named) == "pass 2 'number-values'");
  }

  TEST_CASE("the number, the pattern and the root of the rewrite are those of the first true one") {
    const auto spelled = [](std::string_view pipeline, std::string_view op, std::size_t fewer) {
      const auto found = culprit(pipeline, op, fewer);
      return found ? spelling(*found) : found.error().message;
    };
    CHECK(spelled("simplify", "AbsOp", 2) ==
          "pass 1 'simplify', rewrite 2: 'fold-idempotent' of linalg.CPU.AbsOp at test.mir:5:5");
    CHECK(spelled("simplify", "NegOp", 1) ==
          "pass 1 'simplify', rewrite 1: 'fold-involution' of linalg.CPU.NegOp at test.mir:3:5");
    CHECK(spelled("simplify,simplify", "NegOp", 1) ==
          "pass 1 'simplify', rewrite 1: 'fold-involution' of linalg.CPU.NegOp at test.mir:3:5");
    // Rewrites of earlier passes count too.
    CHECK(spelled("simplify,number-values,cse", "%c", 1) == "pass 2 'number-values'");
    CHECK(spelled("number-values,strip-locations", "%c", 1) == "pass 1 'number-values'");
    CHECK(spelled("strip-locations,number-values", "%c", 1) == "pass 2 'number-values'");
    CHECK(spelled("cse,simplify,extract-graph{graph=none}", "AbsOp", 2) ==
          "pass 'extract-graph' of the pipeline fails");
  }

  TEST_CASE("every number of passes is judged as often as halving asks for") {
    Reading reading{std::string(kText)};
    Passes passes;
    const auto items = passes.read(
        "strip-locations,strip-locations,strip-locations,strip-locations,number-values,"
        "strip-locations,strip-locations,strip-locations");
    REQUIRE(items);
    std::size_t calls = 0;
    const reduce::Judgement judgement = [&](const Module& before,
                                            const Module& after) -> Result<bool> {
      ++calls;
      CHECK(count_of(before, "%c") > 0);
      return count_of(after, "%c") == 0;
    };
    const auto found = reduce::bisect(reading.module(), *items, judgement);
    REQUIRE(found);
    CHECK(spelling(*found) == "pass 5 'number-values'");
    CHECK(calls == 5);  // before and after all, then 4, 6 and 5
    for (std::size_t good = 0; good < calls; ++good) {
      CAPTURE(good);
      std::size_t left = good;
      const auto stopped = reduce::bisect(reading.module(), *items,
                                          [&](const Module&, const Module& after) -> Result<bool> {
                                            if (left-- == 0)
                                              return Error{diag::kCancelled, "no answer"};
                                            return count_of(after, "%c") == 0;
                                          });
      REQUIRE_FALSE(stopped);
      CHECK(stopped.error().message == "no answer");
    }
  }

  TEST_CASE("a judgement that never becomes true, or is true at first, is an error") {
    const auto never = culprit("cse,simplify", "SiLUOp", 1);
    REQUIRE_FALSE(never);
    CHECK(never.error().message ==
          "the test does not hold after the last pass, so no pass is to blame");
    const auto always = culprit("cse,simplify", "TanhOp", 1);
    REQUIRE_FALSE(always);
    CHECK(always.error().message == "the test holds before the first pass");
  }
}

}  // namespace bisect_test
