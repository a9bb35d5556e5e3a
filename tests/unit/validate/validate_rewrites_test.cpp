// Rewrites of a run, each tried alone.
#include <fmt/format.h>

#include "../ir/read.hpp"
#include "mir/pass.hpp"
#include "mir/validate.hpp"

using namespace mir;
using mir::test::Reading;

namespace validate_rewrites_test {

namespace {

constexpr std::string_view kType = "tensor<[4], Float32, CPU>";

/// A module of these ops, from %x to %z.
std::string module_of(std::string_view ops) {
  return fmt::format(
      "@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\n{1}\ncf.ReturnOp (%z) -> ()\n}}\n", kType,
      ops);
}

std::string pattern_of(std::string_view claim, std::string_view first, std::string_view second,
                       std::string_view result = "%z") {
  return fmt::format(
      "@rules [mir_version:1] () -> () {{\npattern.RewriteOp @p [claim:{0}] {{\n"
      "(%x) -> (%z) {{ {1} cf.ReturnOp (%z) -> () }}\n"
      "(%x) -> ({3}) {{ {2} cf.ReturnOp ({3}) -> () }}\n}}\n}}\n",
      claim, first, second, result);
}

/// The report of a run of the toolkit's passes, and of those that are added.
template <class Add>
RewriteValidation::Report tried_with(const Add& add, std::string_view pipeline,
                                     const std::string& text) {
  Reading reading(text);
  Module& module = reading.module();
  PassRegistry registry;
  register_standard_passes(registry);
  add(registry, reading.context);
  Diagnostics problems;
  const auto read = registry.read_pipeline(SourceFile("-p", std::string(pipeline), 1), problems);
  REQUIRE(read);
  const auto whole = clone(module);
  RewriteValidation validation(*whole, {.count = 40});
  RewriteWatch watch;
  validation.watch(watch);
  CHECK(run_pipeline(module, *read, {.rewrites = &watch}, problems));
  CHECK(validation.report().rewrites == watch.made);
  return validation.report();
}

/// The same of a module of patterns, or of a pass of the toolkit where `rules` is its name.
RewriteValidation::Report tried(const std::string& rules, const std::string& text) {
  const bool is_name = !rules.starts_with('@');
  return tried_with(
      [&](PassRegistry& registry, IRContext& context) {
        if (is_name) return;
        Diagnostics problems;
        const SourceFile* file = context.sources().add("rules.mir", rules);
        REQUIRE(register_patterns(registry, context, *file, problems));
      },
      is_name ? rules : "rules", text);
}

constexpr std::string_view kTwoNegs = "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)";

}  // namespace

TEST_SUITE("validation of rewrites") {
  TEST_CASE("a rewrite that keeps its claim") {
    const auto report = tried(pattern_of("value", kTwoNegs, "", "%x"),
                              module_of("linalg.CPU.NegOp(%x) -> (%y) linalg.CPU.NegOp(%y) -> (%w) "
                                        "linalg.CPU.AbsOp(%w) -> (%z)"));
    CHECK(report.rewrites == 1);
    CHECK(report.different == 1);
    CHECK(report.runs == 40);
    CHECK(report.untried == 0);
    CHECK_FALSE(report.refuted);
  }

  TEST_CASE("a wrong rewrite is found where the values of the module hide it") {
    const auto report =
        tried(pattern_of("value",
                         "linalg.D.ClipOp [min_val:$a, max_val:$b] (%x) -> (%y) "
                         "linalg.D.NegOp(%y) -> (%z)",
                         "linalg.D.NegOp(%x) -> (%z)"),
              module_of("linalg.CPU.SigmoidOp(%x) -> (%a)\n"
                        "linalg.CPU.ClipOp [min_val:-2.0, max_val:2.0] (%a) -> (%b)\n"
                        "linalg.CPU.NegOp(%b) -> (%z)"));
    REQUIRE(report.refuted);
    CHECK(report.refuted->number == 1);
    CHECK(report.refuted->pattern == "p");
    const Counterexample& found = report.refuted->counterexample;
    CHECK(found.before.find("ClipOp") != std::string::npos);
    CHECK(found.before.find("SigmoidOp") == std::string::npos);
    CHECK(found.after.find("ClipOp") == std::string::npos);
  }

  TEST_CASE("bits and bounds are those of the pattern") {
    const std::string silu =
        module_of("linalg.CPU.SigmoidOp(%x) -> (%y) linalg.CPU.MulOp(%x, %y) -> (%z)");
    const auto fused = tried("fuse-activations", silu);
    CHECK(fused.rewrites == 1);
    CHECK(fused.runs == 40);
    CHECK_FALSE(fused.refuted);
    CHECK(tried(pattern_of("value", "linalg.D.SigmoidOp(%x) -> (%y) linalg.D.MulOp(%x, %y) -> (%z)",
                           "linalg.D.SiLUOp(%x) -> (%z)"),
                silu)
              .refuted);
  }

  TEST_CASE("the larger the products of a rewrite are, the less often it is tried") {
    const std::string rules =
        "@rules [mir_version:1] () -> () {\npattern.RewriteOp @p [claim:value] {\n"
        "(%x, %u) -> (%z) { linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%w) "
        "linalg.D.MatMulOp [transpose_a:true, transpose_b:false] (%w, %u) -> (%z) cf.ReturnOp (%z) "
        "-> () }\n"
        "(%x, %u) -> (%z) { linalg.D.MatMulOp [transpose_a:true, transpose_b:false] (%x, %u) -> "
        "(%z) "
        "cf.ReturnOp (%z) -> () }\n}\n}\n";
    const auto runs = [&](int columns) {
      const auto report = tried(
          rules, fmt::format("@main [mir_version:1] (%x:tensor<[1, {0}], Float32, CPU>, "
                             "%u:tensor<[1, 1], Float32, CPU>) -> (%z:tensor<[{0}, 1], Float32, "
                             "CPU>) {{\nlinalg.CPU.NegOp(%x) -> (%y)\nlinalg.CPU.NegOp(%y) -> "
                             "(%w)\nlinalg.CPU.MatMulOp [transpose_a:true, transpose_b:false] "
                             "(%w, %u) -> (%z)\ncf.ReturnOp (%z) -> ()\n}}\n",
                             columns));
      CHECK(report.rewrites == 1);
      CHECK_FALSE(report.refuted);
      return report.runs;
    };
    CHECK(runs(100) == 40);
    CHECK(runs(10000) == 9);  // of 10^8 products each
  }

  TEST_CASE("rewrites that differ in names alone are tried once") {
    const auto report = tried(
        pattern_of("value", kTwoNegs, "", "%x"),
        module_of("linalg.CPU.NegOp<name=\"a.neg\">(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%b)\n"
                  "linalg.CPU.SinOp(%b) -> (%c)\n"
                  "linalg.CPU.NegOp<name=\"b.neg\">(%c) -> (%d) linalg.CPU.NegOp(%d) -> (%e)\n"
                  "linalg.CPU.SinOp(%e) -> (%z)"));
    CHECK(report.rewrites == 2);
    CHECK(report.different == 1);
    // Names that are texts of attributes make no two rewrites equal.
    const auto clips =
        tried(pattern_of("value",
                         "linalg.D.ClipOp [min_val:$a, max_val:$b] (%x) -> (%y) "
                         "linalg.D.ClipOp [min_val:$a, max_val:$b] (%y) -> (%z)",
                         "linalg.D.ClipOp [min_val:$a, max_val:$b] (%x) -> (%z)"),
              module_of("linalg.CPU.ClipOp<name=\"1.0\">[min_val:1.0, max_val:9.0](%x) -> (%a)\n"
                        "linalg.CPU.ClipOp [min_val:1.0, max_val:9.0] (%a) -> (%b)\n"
                        "linalg.CPU.ClipOp<name=\"2.0\">[min_val:2.0, max_val:9.0](%b) -> (%c)\n"
                        "linalg.CPU.ClipOp [min_val:2.0, max_val:9.0] (%c) -> (%z)"));
    CHECK(clips.rewrites == 2);
    CHECK(clips.different == 2);
  }

  TEST_CASE("a result may be that of an op which the pattern did not match") {
    // The second NegOp becomes the first.
    const std::string reuse =
        "@rules [mir_version:1] () -> () {\npattern.RewriteOp @p [claim:bits] {\n"
        "(%x) -> (%a, %z) { linalg.D.NegOp(%x) -> (%a) linalg.D.NegOp(%x) -> (%z) "
        "cf.ReturnOp (%a, %z) -> () }\n"
        "(%x) -> (%a, %a) { linalg.D.NegOp(%x) -> (%a) cf.ReturnOp (%a, %a) -> () }\n}\n}\n";
    const auto report =
        tried(reuse, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%x) -> (%b)\n"
                               "linalg.CPU.AddOp(%a, %b) -> (%z)"));
    CHECK(report.rewrites == 1);
    CHECK(report.different == 1);
    CHECK_FALSE(report.refuted);
  }

  TEST_CASE("what is not tried is counted, with a reason") {
    const auto to_neg = [](Rewriter& rewriter, const PatternMatch& match) {
      Value* operand = match.root().operand(0);
      const Type* type = match.root().result()->type();
      Op* made = rewriter.create_detached({.name = rewriter.context().op_name(OpId::kLinalgNeg, {}),
                                           .operands = {&operand, 1},
                                           .result_types = {&type, 1}});
      rewriter.replace(match.root(), *made);
    };
    PatternSet set;
    set.add({.name = "p",
             .roots = {.names = {"graph.CallGraphOp"}},
             .makes = {"linalg.NegOp"},
             .match = [](Op& op) { return PatternMatch::of({&op}); },
             .rewrite = to_neg});
    const std::string call =
        module_of(fmt::format("graph.SubGraphOp @g <CPU> {{ (%a:{0}) -> (%b:{0}) {{\n"
                              "linalg.CPU.NegOp(%a) -> (%b:{0})\ncf.ReturnOp (%b) -> () }} }}\n"
                              "graph.CallGraphOp @g (%x) -> (%z:{0})",
                              kType));
    const auto report = tried_with(
        [&](PassRegistry& registry, IRContext&) {
          registry.add(
              pattern_pass({.name = "rules",
                            .summary = "tests",
                            .patterns = [&](IRContext&, const PassOptions&) { return set; }}));
        },
        "rules", call);
    CHECK(report.rewrites == 1);
    CHECK(report.untried == 1);
    CHECK(report.reason == "'graph.CallGraphOp' does not run alone");
    CHECK(report.different == 0);
  }
}

}  // namespace validate_rewrites_test
