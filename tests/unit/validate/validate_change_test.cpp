// Modules before and after a change, run on the same inputs.
#include <fmt/format.h>

#include "../ir/read.hpp"
#include "mir/validate.hpp"

using namespace mir;
using mir::test::Reading;

namespace validate_change_test {

namespace {

std::string module_of(std::string_view ops,
                      std::string_view type = "tensor<[2, $S], Float32, CPU>") {
  return fmt::format(
      "@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\n    {1}\n    cf.ReturnOp (%z) -> ()\n}}\n",
      type, ops);
}

ChangeVerdict verdict_of(const std::string& before, const std::string& after,
                         std::optional<double> bound = std::nullopt) {
  Reading first(before), second(after);
  return validate_change(first.module(), second.module(), {.count = 40}, bound);
}

template <class T>
concept HasEntries = requires(T bindings) {
  std::forward<T>(bindings).entries();
};

}  // namespace

TEST_SUITE("validation of changes") {
  TEST_CASE("equal results, any NaN being a NaN") {
    const ChangeVerdict verdict =
        verdict_of(module_of("linalg.CPU.NegOp(%x) -> (%y) linalg.CPU.NegOp(%y) -> (%z)"),
                   module_of("linalg.CPU.CloneOp(%x) -> (%z)"));
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict.runs == 40);
    CHECK(verdict.elements > 100);
  }

  TEST_CASE("a difference is found, in special values too") {
    const std::string abs = module_of("linalg.CPU.AbsOp(%x) -> (%z)");
    const ChangeVerdict verdict = verdict_of(abs, module_of("linalg.CPU.ReLUOp(%x) -> (%z)"));
    REQUIRE(verdict.kind == PatternVerdict::Kind::kRefuted);
    CHECK(verdict.counterexample->before.find("AbsOp") != std::string::npos);
    CHECK(verdict.counterexample->after.find("ReLUOp") != std::string::npos);
    CHECK(verdict.counterexample->inputs.size() == 1);
    // Only the sign of zero differs.
    CHECK(
        verdict_of(
            module_of("linalg.CPU.AddOp(%x, %c:tensor<[1], Float32, CPU>[constant:[0.0]]) -> (%z)"),
            module_of("linalg.CPU.CloneOp(%x) -> (%z)"))
            .kind == PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("a bound is relative to the largest magnitude") {
    const std::string chain =
        module_of("linalg.CPU.SigmoidOp(%x) -> (%y) linalg.CPU.MulOp(%x, %y) -> (%z)");
    const std::string fused = module_of("linalg.CPU.SiLUOp(%x) -> (%z)");
    CHECK(verdict_of(chain, fused).kind == PatternVerdict::Kind::kRefuted);
    CHECK(verdict_of(chain, fused, 1e-6).kind == PatternVerdict::Kind::kKept);
    CHECK(verdict_of(chain, fused, 1e-12).kind == PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("symbols that a pass binds have the bound values") {
    const std::string ops = "linalg.CPU.NegOp(%x) -> (%z)";
    const ChangeVerdict verdict = verdict_of(module_of(ops, "tensor<[2, 2*$S+1], Float32, CPU>"),
                                             module_of(ops, "tensor<[2, 7], Float32, CPU>"));
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict.runs == 40);
    // Not a whole number of S.
    CHECK(verdict_of(module_of(ops, "tensor<[2, 2*$S], Float32, CPU>"),
                     module_of(ops, "tensor<[2, 7], Float32, CPU>"))
              .kind == PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("symbols of caches are bound to what the caches hold") {
    // A loop over the entries of temporary bindings does not compile.
    static_assert(!HasEntries<DimBindings>);
    static_assert(HasEntries<const DimBindings&>);
    const auto cached = [](std::string_view rest) {
      return fmt::format(
          "@main [mir_version:1] (%k:tensor<[1, 2, $S, 4], Float32, CPU>) -> (%z:tensor<[1, 2, "
          "$past+$S, 4], Float32, CPU>) {{\n"
          "    linalg.CPU.KVCacheOp [cache:@c, q_head:2, kv_head:2, head_dim:4, past:$past, "
          "capacity:64] (%k, %k) -> (%a, %b)\n    {}\n    cf.ReturnOp (%z) -> ()\n}}\n",
          rest);
    };
    const std::string twice = cached("linalg.CPU.NegOp(%a) -> (%c) linalg.CPU.NegOp(%c) -> (%z)");
    const ChangeVerdict verdict = verdict_of(twice, cached("linalg.CPU.CloneOp(%a) -> (%z)"));
    CAPTURE(verdict.reason);
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict_of(twice, cached("linalg.CPU.AbsOp(%a) -> (%z)")).kind ==
          PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("weights of equal names are equal, caches go on") {
    const auto linear = [](std::string_view rest, std::string_view name = "m.q") {
      return fmt::format(
          "@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%z:tensor<[2, 4], Float32, "
          "CPU>) {{\n"
          "    graph.SubGraphOp @init {{ () -> () {{ tensor.CPU.register () -> (%w:tensor<[4, 3], "
          "Float32, CPU>[@{1}.weight]) cf.ReturnOp () -> () }} }}\n"
          "    linalg.CPU.LinearOp <name=\"{1}\"> [in_channels:3, out_channels:4, bias:false] (%x) "
          "-> (%y)\n"
          "    {0}\n    cf.ReturnOp (%z) -> ()\n}}\n",
          rest, name);
    };
    const std::string twice = linear("linalg.CPU.NegOp(%y) -> (%a) linalg.CPU.NegOp(%a) -> (%z)");
    CHECK(verdict_of(twice, linear("linalg.CPU.CloneOp(%y) -> (%z)")).kind ==
          PatternVerdict::Kind::kKept);
    CHECK(verdict_of(twice, linear("linalg.CPU.CloneOp(%y) -> (%z)", "m.k")).kind ==
          PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("extents without a name are drawn") {
    const std::string_view type = "tensor<[?, 2], Float32, CPU>";
    const ChangeVerdict verdict =
        verdict_of(module_of("linalg.CPU.AbsOp(%x) -> (%y) linalg.CPU.AbsOp(%y) -> (%z)", type),
                   module_of("linalg.CPU.AbsOp(%x) -> (%z)", type));
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict.runs == 40);
    CHECK(verdict.elements > 40);
  }

  TEST_CASE("runs that stop are counted apart from runs that agree") {
    const auto sliced = [](std::string_view end) {
      return fmt::format(
          "@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>) -> (%z) {{\n"
          "linalg.CPU.SliceOp [indices:[{{\"start\":{},\"end\":$S,\"step\":1}}]] (%x) -> (%y) "
          "linalg.CPU.AbsOp(%y) -> (%z) cf.ReturnOp (%z) -> ()\n}}\n",
          end);
    };
    const ChangeVerdict verdict = verdict_of(sliced("3"), sliced("3"));
    INFO(verdict.reason);
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict.runs == 40);
    CHECK(verdict.stopped > 0);
    CHECK(verdict.stopped_once == 0);
  }

  TEST_CASE("without an element to compare there is no verdict") {
    const std::string_view type = "tensor<[2, 0], Float32, CPU>";
    const std::string same = module_of("linalg.CPU.AbsOp(%x) -> (%z)", type);
    const ChangeVerdict verdict = verdict_of(same, same);
    CHECK(verdict.kind == PatternVerdict::Kind::kUndecided);
    CHECK(verdict.reason == "no result has an element to compare");
    // All results are infinite, and a bound speaks of finite ones.
    const std::string infinite =
        module_of("linalg.CPU.DivOp(%x, %c:tensor<[1], Float32, CPU>[constant:[0.0]]) -> (%z)");
    CHECK(verdict_of(infinite, infinite, 0.1).kind == PatternVerdict::Kind::kUndecided);
  }

  TEST_CASE("what cannot run is no verdict, and what only then fails is one") {
    const std::string view = module_of("linalg.CPU.ViewOp [to_shape:[2, -1]] (%x) -> (%z)");
    const std::string good = module_of("linalg.CPU.CloneOp(%x) -> (%z)");
    CHECK(verdict_of(good, view).kind == PatternVerdict::Kind::kKept);
    const std::string foreign =
        module_of("linalg.CPU.MyOp [meaning:plugin] (%x) -> (%z:tensor<[2, $S], Float32, CPU>)");
    const ChangeVerdict untested = verdict_of(foreign, good);
    CHECK(untested.kind == PatternVerdict::Kind::kUndecided);
    CHECK(untested.reason.find("MyOp") != std::string::npos);
    const ChangeVerdict broken = verdict_of(good, foreign);
    REQUIRE(broken.kind == PatternVerdict::Kind::kRefuted);
    CHECK(
        broken.counterexample->difference.starts_with("the module cannot run after the passes: "));
  }
}

}  // namespace validate_change_test
