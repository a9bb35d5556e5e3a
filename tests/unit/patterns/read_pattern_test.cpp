// Patterns that are not sound, and those of the document.
#include <fmt/format.h>

#include "../ir/read.hpp"
#include "../project_files.hpp"
#include "mir/verify.hpp"
#include "patterns/pattern.hpp"

using namespace mir;
using mir::test::Reading;

namespace read_pattern_test {

namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kNegNeg =
    "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z) cf.ReturnOp (%z) -> () }";
constexpr std::string_view kInput = "(%x) -> (%x) { cf.ReturnOp (%x) -> () }";

std::string module_of(std::string_view attributes, std::string_view first,
                      std::string_view second) {
  return fmt::format(
      "@rules [mir_version:1] () -> () {{\npattern.RewriteOp @p [{}] {{\n{}\n{}\n}}\n}}\n",
      attributes, first, second);
}

/// What verification reports of a pattern, without place and name.
std::string refusal(std::string_view attributes, std::string_view first, std::string_view second) {
  Reading reading(module_of(attributes, first, second));
  if (reading.diagnostics.has_errors())
    return test::lines_of(reading.diagnostics, reading.context).front();
  Diagnostics found;
  if (verify(reading.module(), found)) return "";
  std::string message = found.sorted().front().message;
  constexpr std::string_view kName = "pattern 'p': ";
  return message.starts_with(kName) ? message.substr(kName.size()) : message;
}

/// The same for what the first region matches, with one input and one result.
std::string refused_match(std::string_view ops, std::string_view attributes = "") {
  return refusal(attributes, fmt::format("(%x) -> (%z) {{ {} cf.ReturnOp (%z) -> () }}", ops),
                 kInput);
}

/// The same for what the second region makes of `Neg(Neg(x))`.
std::string refused_rewrite(std::string_view ops, std::string_view attributes = "") {
  return refusal(attributes, kNegNeg,
                 fmt::format("(%x) -> (%z) {{ {} cf.ReturnOp (%z) -> () }}", ops));
}

}  // namespace

TEST_SUITE("reading patterns") {
  TEST_CASE("a pattern that was not verified needs two regions as well") {
    for (const std::string& regions : {std::string(), std::string(kNegNeg),
                                       fmt::format("{}\n{}\n{}", kNegNeg, kInput, kInput)}) {
      CAPTURE(regions);
      Reading reading(module_of("", regions, ""));
      Diagnostics found;
      const Op& op = *reading.module().body().only_block().front();
      CHECK(patterns::read_pattern(op, found) == nullptr);
      REQUIRE(found.sorted().size() == 1);
      CHECK(found.sorted().front().message ==
            "pattern 'p': a pattern has two regions: what it matches and what it becomes");
    }
  }

  TEST_CASE("pattern_c1: MIR0924 first regions that cannot be matched") {
    CHECK(refusal("", kNegNeg, kInput) == "");
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"linalg.D.NagOp(%x) -> (%z)",
         "operation 'linalg.NagOp' is not known (did you mean 'linalg.NegOp'?)"},
        {"graph.CallGraphOp @f (%x) -> (%z)",
         "'graph.CallGraphOp' has effects, or depends on more than its operands; patterns rewrite "
         "pure operations"},
        {"linalg.D.KVCacheOp [layer_idx:0, kv_heads:1, repeat:1, head_dim:1, use_fa2:true] (%x, "
         "%x) -> (%z, %w)",
         "'linalg.KVCacheOp' has effects, or depends on more than its operands; patterns rewrite "
         "pure operations"},
        {"linalg.D.NegOp(%x, %x) -> (%z)", "'linalg.NegOp' cannot have 2 operands and 1 result"},
        {"linalg.D.SoftmaxOp [axes:1] (%x) -> (%z)",
         "'linalg.SoftmaxOp' has no attribute 'axes' (did you mean 'axis'?)"},
        {"linalg.D.SoftmaxOp [axis:word] (%x) -> (%z)",
         "attribute 'axis' of 'linalg.SoftmaxOp' cannot be word"},
        {"linalg.D.PermuteOp(%x) -> (%z)",
         "'linalg.PermuteOp' needs attribute 'axis'; axis:_ takes any value"},
        {"linalg.D.LinearOp [in_channels:_, out_channels:_, bias:_] (%x) -> (%z)",
         "'linalg.LinearOp' finds its weights by its name; write <name=\"$n\">"},
        {"linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%x) -> (%z) linalg.D.PermuteOp [axis:[$a.., "
         "$b..]] (%y) -> (%w)",
         "a list that is matched has at most one pack"},
        {"linalg.D.NegOp(%c[constant:[1]]) -> (%y) linalg.D.NegOp(%x) -> (%z)",
         "the operations of the first region are not connected"},
        {"linalg.D.NegOp(%c[constant:[1]]) -> (%z)",
         "input '%x' of the first region is used by no operation"},
        {"linalg.D.NegOp(%x) -> (%z:tensor<[?], T, D>)",
         "'?' is no extent of a pattern: write a variable, or leave the type out"},
        {"linalg.D.NegOp(%x) -> (%z:tensor<[2], Flaot32, D>)",
         "'Flaot32' is neither an element type nor a variable, which is a capital letter, perhaps "
         "with a digit"},
        {"linalg.D.NegOp(%x) -> (%z:tensor<[2*$n], T, D>)",
         "nothing binds '$n': it stands only in expressions"},
        {"linalg.D.NegOp(%x) -> (%z[quant_scale:1.0])",
         "'%z' has an attribute 'quant_scale', which a pattern cannot ask for"},
        {"linalg.D.AddOp(%x, %w[@w]) -> (%z)",
         "'%w' has a symbol: make a parameter an input of the pattern"},
        {"linalg.D.AddOp(%x, %y) -> (%z) linalg.D.NegOp(%x) -> (%y)",
         "'%y' is used above its definition"},
        {"linalg.D.NegOp(%x) -> (%y) linalg.D.AddOp(%x, %y) -> (%a) linalg.D.AddOp(%a, %y) -> (%b) "
         "linalg.D.AddOp(%b, %y) -> (%c) linalg.D.AddOp(%c, %y) -> (%d) linalg.D.AddOp(%d, %y) -> "
         "(%e) linalg.D.AddOp(%e, %y) -> (%z)",
         "more than 5 commutative operations without a constant have too many orders to try"},
    };
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(refused_match(each.first) == each.second);
    }
    CHECK(refusal("", kInput, kInput) == "the first region has no operation to match");
    // Equal operands have one order, a constant is no other operand.
    CHECK(refused_match("linalg.D.AddOp(%x, %x) -> (%a) linalg.D.AddOp(%a, %a) -> (%b) "
                        "linalg.D.AddOp(%b, %b) -> (%c) linalg.D.AddOp(%c, %k[constant:[1]]) -> "
                        "(%d) linalg.D.AddOp(%d, %d) -> (%e) linalg.D.AddOp(%e, %k) -> (%z)") ==
          "");
    CHECK(refusal("", "(%x) -> (%x) { linalg.D.NegOp(%x) -> (%y) cf.ReturnOp (%x) -> () }",
                  kInput) == "the first region returns what an operation of it defines");
    CHECK(refusal("", "(%x) -> (%y, %y) { linalg.D.NegOp(%x) -> (%y) cf.ReturnOp (%y, %y) -> () }",
                  "(%x) -> (%x, %x) { cf.ReturnOp (%x, %x) -> () }") ==
          "the first region returns a value twice");
    CHECK(refusal("", "(%x) -> () { linalg.D.NegOp(%x) -> (%y) cf.ReturnOp () -> () }",
                  "(%x) -> () { cf.ReturnOp () -> () }") ==
          "a pattern replaces at least one value");
    CHECK(refusal("", "(%x) -> (%y) { linalg.D.NegOp(%x) -> (%y) }", kInput) ==
          "a region of a pattern ends with cf.ReturnOp");
    CHECK(refusal("", "(%x) -> (%y) { cf.ReturnOp (%x) -> () linalg.D.NegOp(%x) -> (%y) }",
                  kInput) == "cf.ReturnOp is the last op of a region");
    CHECK(refusal("", "(%x) -> (%y, %y) { linalg.D.NegOp(%x) -> (%y) cf.ReturnOp (%y) -> () }",
                  kInput) == "1 values are returned, the signature has 2");
  }

  TEST_CASE("a type of another dialect has parameters that are read one by one") {
    const auto with_type = [](std::string_view type) {
      return refused_match(fmt::format("linalg.D.NegOp(%x) -> (%z:{})", type));
    };
    CHECK(with_type("!d.v") == "");
    CHECK(with_type("!d.v<$n, 2>") == "");
    CHECK(with_type("!d.v<a b:>") == "cannot read the parameters of '!d.v<a b:>'");
    CHECK(with_type("!d.v<>") == "");
  }

  TEST_CASE("a match begins with the last operation, and follows definitions before users") {
    const auto order = [](std::string_view ops) {
      Reading reading(
          module_of("", fmt::format("(%x) -> (%z) {{ {} cf.ReturnOp (%z) -> () }}", ops), kInput));
      Diagnostics found;
      const auto pattern =
          patterns::read_pattern(*reading.module().body().only_block().front(), found);
      REQUIRE(pattern);
      std::string text;
      for (const auto& step : pattern->steps) {
        text += pattern->match.ops[step.op].info->row->type_name;
        text += " ";
      }
      return text;
    };
    CHECK(order("linalg.D.NegOp(%x) -> (%a) linalg.D.ExpOp(%a) -> (%b) linalg.D.AddOp(%b, %a) -> "
                "(%z)") == "Add Exp Neg ");
    CHECK(order("linalg.D.NegOp(%x) -> (%a) linalg.D.ExpOp(%a) -> (%b) linalg.D.AbsOp(%a) -> "
                "(%z)") == "Abs Neg Exp ");
  }

  TEST_CASE("pattern_c1: MIR0924 second regions that cannot be made") {
    CHECK(refused_rewrite("linalg.D.NegOp(%x) -> (%z)") == "");
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"linalg.E.NegOp(%x) -> (%z)", "nothing binds 'E'"},
        {"linalg.D.PermuteOp [axis:$p] (%x) -> (%z)", "nothing binds '$p'"},
        {"linalg.D.PermuteOp [axis:[$p+1]] (%x) -> (%z)",
         "cannot read '$p+1': nothing binds '$p' at character 1"},
        {"linalg.D.PermuteOp [axis:_] (%x) -> (%z)",
         "'_' stands for any value, so a rewrite cannot make it"},
        {"linalg.D.PermuteOp(%x) -> (%z)", "'linalg.PermuteOp' needs attribute 'axis'"},
        {"linalg.D.AddOp(%x, %c[constant:[1]]) -> (%z)",
         "constant '%c' of the second region needs a type"},
    };
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(refused_rewrite(each.first) == each.second);
    }
    CHECK(refusal("", kNegNeg, "(%x, %y) -> (%x) { cf.ReturnOp (%x) -> () }") ==
          "the first region has 1 inputs and 1 results, the second one 2 and 1");
  }

  TEST_CASE("pattern_c1: MIR0924 what a pattern states of itself") {
    const std::pair<std::string_view, std::string_view> kCases[] = {
        {"claim:value", ""},
        {"claim:bound, relative:1e-6", ""},
        {"claim:bound", "claim:bound and a bound, which is relative or absolute, belong together"},
        {"relative:1e-6",
         "claim:bound and a bound, which is relative or absolute, belong together"},
        {"where:\"users(%y) == 1\"", ""},
        {"where:[\"users(%y) == 1\", \"rank(%w) == 1\"]",
         "cannot read 'rank(%w) == 1': nothing defines '%w' at character 6"},
        {"where:{\"rank(%x) in [\":\"reason\"}",
         "cannot read 'rank(%x) in [': expected a value at its end"},
        {"let:{D:1}", ""},
        {"let:{a:1, a2:\"$a + 1\"}", ""},
        {"let:{a:1, a2:$a+1}", ""},
        {"let:{a:\"$b\", b:1}", "cannot read '$b': nothing binds '$b' at character 1"},
        {"let:{a:1, \"$a\":2}", "'let' binds '$a', which is bound already"},
    };
    for (const auto& each : kCases) {
      CAPTURE(each.first);
      CHECK(refusal(each.first, kNegNeg, kInput) == each.second);
    }
  }

  TEST_CASE("pattern_c1: MIR0924 types that differ between the regions") {
    const auto product = [](std::string_view split) {
      return fmt::format(
          "(%x:tensor<[$M, $K], T, D>, %a:tensor<[$P, $K], T, D>, %b:tensor<[$Q, $K], T, D>) -> "
          "(%y, %z) {{\n"
          "linalg.D.ConcatOp [dim:0] (%a, %b) -> (%w)\n"
          "linalg.D.MatMulOp [transpose_b:true] (%x, %w) -> (%c)\n"
          "linalg.D.SplitOp [dim:-1, split_size_or_sections:{}] (%c) -> (%y, %z)\n"
          "cf.ReturnOp (%y, %z) -> ()\n}}",
          split);
    };
    const std::string two =
        "(%x:tensor<[$M, $K], T, D>, %a:tensor<[$P, $K], T, D>, %b:tensor<[$Q, $K], T, D>) -> (%y, "
        "%z) {\n"
        "linalg.D.MatMulOp [transpose_b:true] (%x, %a) -> (%y)\n"
        "linalg.D.MatMulOp [transpose_b:true] (%x, %b) -> (%z)\n"
        "cf.ReturnOp (%y, %z) -> ()\n}";
    CHECK(refusal("", two, product("[$P, $Q]")) == "");
    CHECK(refusal("", two, product("[$P, $P]"))
              .starts_with("the second region does not verify for T = Float32: "));
    CHECK(refusal("", two, product("[$Q, $P]"))
              .starts_with("result 0 is tensor<[$M, $P], Float32, CPU> in the first region and "
                           "tensor<[$M, $Q], Float32, CPU> in the second one for T = Float32"));
    // A condition may make the difference: it is checked for each match.
    CHECK(refusal("where:\"$P == $Q\"", two, product("[$Q, $P]")) == "");
    // A cast to another type.
    CHECK(refusal("",
                  "(%x:tensor<[$n], T, D>) -> (%y) { linalg.D.CastTypeOp [dtype:Float32] (%x) -> "
                  "(%y) cf.ReturnOp (%y) -> () }",
                  "(%x:tensor<[$n], T, D>) -> (%x) { cf.ReturnOp (%x) -> () }")
              .find("for T = Float16") != std::string::npos);
  }

  TEST_CASE("the examples of docs/patterns.md are sound") {
    const std::string page = test::read_whole(test::kRoot / "docs/patterns.md");
    std::size_t found = 0;
    constexpr std::string_view kFence = "```mir patterns\n";
    for (auto at = page.find(kFence); at != page.npos; at = page.find(kFence, at + 1)) {
      const auto begin = at + kFence.size();
      Reading reading(page.substr(begin, page.find("```", begin) - begin));
      CHECK(test::lines_of(reading.diagnostics, reading.context) == Lines{});
      Diagnostics problems;
      verify(reading.module(), problems);
      CHECK(test::lines_of(problems, reading.context) == Lines{});
      ++found;
    }
    CHECK(found == 5);
  }

  TEST_CASE("type_c8: MIR0301 types that only patterns have") {
    const auto found = [](std::string_view type) {
      Reading reading(
          fmt::format("@main [mir_version:1] () -> () {{\ntensor.CPU.alloc () -> "
                      "(%0:{})\ncf.ReturnOp () -> ()\n}}\n",
                      type));
      Diagnostics problems;
      verify(reading.module(), problems);
      return test::lines_of(problems, reading.context);
    };
    CHECK(found("tensor<[$n.., 2], Float32, CPU>") ==
          Lines{"2:1 MIR0301 tensor<[$n.., 2], Float32, CPU> is a type that only patterns have"});
    CHECK(found("!builtin.any") ==
          Lines{"2:1 MIR0301 !builtin.any is a type that only patterns have"});
    CHECK(found("tensor<[4, 2], Float32, CPU>") == Lines{});
  }
}

}  // namespace read_pattern_test
