// Verdicts about patterns that are right, and about some that are wrong.
#include <fmt/format.h>

#include <filesystem>

#include "../ir/read.hpp"
#include "../project_files.hpp"
#include "../seeds.hpp"
#include "../stored_lines.hpp"
#include "mir/session.hpp"
#include "mir/validate.hpp"
#include "mir/verify.hpp"
#include "validate/values.hpp"

using namespace mir;
using mir::test::Reading;

namespace validate_patterns_test {

namespace {

std::string pattern_of(std::string_view attributes, std::string_view inputs, std::string_view first,
                       std::string_view second, std::string_view result) {
  return fmt::format(
      "@rules [mir_version:1] () -> () {{\npattern.RewriteOp @p [{0}] {{\n"
      "({1}) -> (%z) {{ {2} cf.ReturnOp (%z) -> () }}\n"
      "({1}) -> ({4}) {{ {3} cf.ReturnOp ({4}) -> () }}\n}}\n}}\n",
      attributes, inputs, first, second, result);
}

PatternVerdict verdict_of(const std::string& text, std::uint64_t count = 60) {
  Reading reading(text);
  Diagnostics found;
  verify(reading.module(), found);
  for (const std::string& each : test::lines_of(found, reading.context)) MESSAGE(each);
  REQUIRE_FALSE(found.has_errors());
  auto verdicts = validate_patterns(reading.module(), {.count = count});
  REQUIRE(verdicts.size() == 1);
  return std::move(verdicts.front());
}

struct Case {
  std::string_view attributes, inputs, first, second, result = "%z";
};

std::string text_of(const Case& each) {
  return pattern_of(each.attributes, each.inputs, each.first, each.second, each.result);
}

/// Runs a program of a counterexample, with the weights of seed 0.
std::vector<Tensor> run(const std::string& text, std::span<const Tensor> inputs) {
  Reading reading(text);
  Diagnostics found;
  WeightSet weights;
  REQUIRE(weights.add("random:0"));
  SessionOptions how;
  how.weights = &weights;
  auto session = Session::create(reading.module(), how, found);
  REQUIRE(session);
  auto outputs = session->run(inputs, found);
  REQUIRE(outputs);
  return *std::move(outputs);
}

constexpr Case kRight[] = {
    {"claim:value", "%x", "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)", "", "%x"},
    {"claim:value, where:\"is_float(dtype(%x)) || is_integer(dtype(%x))\"", "%x",
     "linalg.D.AddOp(%x, %c[constant:[-0.0]]) -> (%z)", "", "%x"},
    {"claim:value", "%x", "linalg.D.SubOp(%x, %c[constant:[0.0]]) -> (%z)", "", "%x"},
    {"claim:value, where:\"is_float(dtype(%x)) || is_integer(dtype(%x))\"", "%x",
     "linalg.D.MulOp(%x, %c[constant:[1]]) -> (%z)", "", "%x"},
    {"", "%x, %u", "linalg.D.MulOp(%x, %u) -> (%z)", "linalg.D.MulOp(%u, %x) -> (%z)"},
    {"claim:value, where:\"dtype(%x) == ComplexFP64\"", "%x",
     "linalg.D.SubOp(%x, %c[constant:[0.0]]) -> (%z)", "", "%x"},
    {"", "%x", "linalg.D.ReLUOp(%x) -> (%y) linalg.D.ReLUOp(%y) -> (%z)",
     "linalg.D.ReLUOp(%x) -> (%z)"},
    {"let:{r:\"compose($p, $q)\"}", "%x",
     "linalg.D.PermuteOp [axis:$p] (%x) -> (%y) linalg.D.PermuteOp [axis:$q] (%y) -> (%z)",
     "linalg.D.PermuteOp [axis:$r] (%x) -> (%z)"},
    {"", "%x",
     "linalg.D.ViewOp [to_shape:_] (%x) -> (%y) linalg.D.ViewOp [to_shape:$s] (%y) -> (%z)",
     "linalg.D.ViewOp [to_shape:$s] (%x) -> (%z)"},
    {"", "%x",
     "linalg.D.SplitOp [dim:$d, split_size_or_sections:[$a, $b]] (%x) -> (%y, %w) "
     "linalg.D.ConcatOp [dim:$d] (%y, %w) -> (%z)",
     "", "%x"},
    {"where:\"is_integer(dtype(%x)) && dtype(%u) == dtype(%x) && dtype(%v) == dtype(%x)\"",
     "%x, %u, %v", "linalg.D.AddOp(%x, %u) -> (%y) linalg.D.AddOp(%y, %v) -> (%z)",
     "linalg.D.AddOp(%u, %v) -> (%y) linalg.D.AddOp(%x, %y) -> (%z)"},
    {"claim:bound, relative:1e-6, absolute:1e-7, where:\"dtype(%x) == Float32\"", "%x",
     "linalg.D.SigmoidOp(%x) -> (%y) linalg.D.MulOp(%x, %y) -> (%z)",
     "linalg.D.SiLUOp(%x) -> (%z)"},
    {"", "%x, %u",
     "linalg.D.TransposeOp [dim0:-1, dim1:-2] (%u) -> (%y) "
     "linalg.D.MatMulOp [transpose_b:false] (%x, %y) -> (%z)",
     "linalg.D.MatMulOp [transpose_b:true] (%x, %u) -> (%z)"},
    {"claim:bound, absolute:0.5, relative:0.01, largest:100, where:\"dtype(%x) in [Float32, "
     "Float64]\"",
     "%x, %u, %v",
     "linalg.D.MulOp(%x, %u) -> (%y) linalg.D.MulOp(%x, %v) -> (%w) linalg.D.AddOp(%y, %w) -> (%z)",
     "linalg.D.AddOp(%u, %v) -> (%y) linalg.D.MulOp(%x, %y) -> (%z)"},
    {"claim:value, let:{d:\"1.0 / $c\"}, where:[\"is_float(T)\", \"is_power_of_two($c)\"]",
     "%x:tensor<[$n..], T, D>", "linalg.D.DivOp(%x, %c[constant:[$c]]) -> (%z)",
     "linalg.D.MulOp(%x, %d:tensor<[1], T, D>[constant:[$d]]) -> (%z)"},
    // Ops with weights find them by their names.
    {"claim:bound, relative:1e-5, absolute:1e-4", "%x",
     "linalg.D.NegOp(%x) -> (%y) linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, out_channels:$o, "
     "bias:false] (%y) -> (%z)",
     "linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, out_channels:$o, bias:false] (%x) -> (%y) "
     "linalg.D.NegOp(%y) -> (%z)"},
    {"claim:bound, relative:1e-4, absolute:1e-4", "%x",
     "linalg.D.NegOp(%x) -> (%y) linalg.D.RMSNormOp <name=\"m.norm\"> [epsilon:$e] (%y) -> (%z)",
     "linalg.D.RMSNormOp <name=\"m.norm\"> [epsilon:$e] (%x) -> (%y) linalg.D.NegOp(%y) -> (%z)"},
    {"where:\"is_integer(T) && $n == 7\"", "%x:tensor<[$n], T, D>",
     "linalg.D.MulOp(%a[constant:[3]], %b[constant:[3]]) -> (%y) "
     "linalg.D.MulOp(%u[constant:[3]], %v[constant:[3]]) -> (%w) "
     "linalg.D.MulOp(%y, %w) -> (%t) linalg.D.MulOp(%x, %t) -> (%z)",
     "linalg.D.MulOp(%x, %c:tensor<[1], T, D>[constant:[81]]) -> (%z)"},
    // In Float64, on integers: neither these constants nor these powers are exact.
    {"claim:bound, relative:1e-9, where:\"dtype(%x) == Float64\"", "%x",
     "linalg.D.MulOp(%x, %a[constant:[0.1]]) -> (%y) linalg.D.MulOp(%y, %b[constant:[0.3]]) -> "
     "(%z)",
     "linalg.D.MulOp(%x, %c:tensor<[1], Float64, D>[constant:[0.03]]) -> (%z)"},
    {"claim:bound, relative:1e-9, where:\"dtype(%x) == Float64\"", "%x",
     "linalg.D.MulOp(%x, %x) -> (%y) linalg.D.MulOp(%y, %y) -> (%w) linalg.D.MulOp(%w, %w) -> (%z)",
     "linalg.D.MulOp(%x, %x) -> (%y) linalg.D.MulOp(%y, %x) -> (%u) linalg.D.MulOp(%u, %u) -> (%v) "
     "linalg.D.MulOp(%v, %y) -> (%z)"},
};

constexpr Case kWrong[] = {
    // Complex numbers: a real constant has the imaginary part +0.
    {"claim:value", "%x", "linalg.D.MulOp(%x, %c[constant:[1]]) -> (%z)", "", "%x"},
    {"claim:value, where:\"dtype(%x) == ComplexFP32\"", "%x",
     "linalg.D.AddOp(%x, %c[constant:[-0.0]]) -> (%z)", "", "%x"},
    // They match only an extent of 4, which is stated, or one that is large.
    {"where:\"rank(%x) == 2\"", "%x:tensor<[4, $a], T, D>",
     "linalg.D.TransposeOp [dim0:0, dim1:1] (%x) -> (%z)", "", "%x"},
    {"where:\"shape(%x)[0] == shape(%x)[1] && 2 * $a == 22\"", "%x:tensor<[$a, $b], T, D>",
     "linalg.D.TransposeOp [dim0:0, dim1:1] (%x) -> (%z)", "", "%x"},
    // Only bounds that count from the end show it.
    {R"(let:{s:"$a + $c", e:"$a + $d"})", "%x:tensor<[$n], T, D>",
     R"(linalg.D.SliceOp [indices:[{"start":$a,"end":$b,"step":1}]] (%x) -> (%y)
        linalg.D.SliceOp [indices:[{"start":$c,"end":$d,"step":1}]] (%y) -> (%z))",
     R"(linalg.D.SliceOp [indices:[{"start":$s,"end":$e,"step":1}]] (%x) -> (%z))"},
    {"", "%x", "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)", "", "%x"},
    {"claim:value", "%x", "linalg.D.AddOp(%x, %c[constant:[0.0]]) -> (%z)", "", "%x"},
    {"claim:value", "%x", "linalg.D.SubOp(%x, %c[constant:[-0.0]]) -> (%z)", "", "%x"},
    {"claim:value", "%x", "linalg.D.LogOp(%x) -> (%y) linalg.D.ExpOp(%y) -> (%z)", "", "%x"},
    {"let:{r:\"compose($q, $p)\"}", "%x",
     "linalg.D.PermuteOp [axis:$p] (%x) -> (%y) linalg.D.PermuteOp [axis:$q] (%y) -> (%z)",
     "linalg.D.PermuteOp [axis:$r] (%x) -> (%z)"},
    {"claim:value", "%x", "linalg.D.MulOp(%x, %x) -> (%y) linalg.D.AbsOp(%y) -> (%z)",
     "linalg.D.MulOp(%x, %x) -> (%z)"},
    {"claim:value", "%x", "linalg.D.SigmoidOp(%x) -> (%y) linalg.D.MulOp(%x, %y) -> (%z)",
     "linalg.D.SiLUOp(%x) -> (%z)"},
    {"claim:value", "%x, %u, %v", "linalg.D.AddOp(%x, %u) -> (%y) linalg.D.AddOp(%y, %v) -> (%z)",
     "linalg.D.AddOp(%u, %v) -> (%y) linalg.D.AddOp(%x, %y) -> (%z)"},
    {"claim:value", "%x", "linalg.D.ReLUOp(%x) -> (%z)",
     "linalg.D.ClipOp [min_val:0.0, max_val:inf] (%x) -> (%z)"},
    {"where:\"shape(%x)[-1] == 1\"", "%x",
     "linalg.D.ReduceSumOp [dim:-1, keep_dim:true] (%x) -> (%z)", "", "%x"},
    {"let:{s:\"shape(%z)\"}", "%x", "linalg.D.TransposeOp [dim0:$a, dim1:$b] (%x) -> (%z)",
     "linalg.D.ViewOp [to_shape:$s] (%x) -> (%z)"},
    {"claim:value, let:{d:\"1.0 / $c\"}, where:\"is_float(T)\"", "%x:tensor<[$n..], T, D>",
     "linalg.D.DivOp(%x, %c[constant:[$c]]) -> (%z)",
     "linalg.D.MulOp(%x, %d:tensor<[1], T, D>[constant:[$d]]) -> (%z)"},
    // A generous bound hides it from other numbers, not from exact ones.
    {"claim:bound, absolute:1e9, relative:1", "%x, %u, %v",
     "linalg.D.MulOp(%x, %u) -> (%y) linalg.D.MulOp(%x, %v) -> (%w) linalg.D.AddOp(%y, %w) -> (%z)",
     "linalg.D.SubOp(%u, %v) -> (%y) linalg.D.MulOp(%x, %y) -> (%z)"},
    // The bias is not negated.
    {"claim:bound, relative:1e-5, absolute:1e-4", "%x",
     "linalg.D.NegOp(%x) -> (%y) linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, out_channels:$o, "
     "bias:true] (%y) -> (%z)",
     "linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, out_channels:$o, bias:true] (%x) -> (%y) "
     "linalg.D.NegOp(%y) -> (%z)"},
    // The weights of another op.
    {"claim:bound, relative:1e-3, absolute:1e-3", "%x",
     "linalg.D.RMSNormOp <name=\"$n\"> [epsilon:$e] (%x) -> (%y) "
     "linalg.D.RMSNormOp <name=\"$m\"> [epsilon:$e] (%y) -> (%z)",
     "linalg.D.RMSNormOp <name=\"$m\"> [epsilon:$e] (%x) -> (%y) "
     "linalg.D.RMSNormOp <name=\"$m\"> [epsilon:$e] (%y) -> (%z)"},
};

}  // namespace

TEST_SUITE("validation of patterns") {
  TEST_CASE("patterns that keep what they claim") {
    for (const Case& each : kRight) {
      CAPTURE(each.first);
      const PatternVerdict verdict = verdict_of(text_of(each));
      INFO(spelling(verdict));
      CHECK(verdict.kind == PatternVerdict::Kind::kKept);
      CHECK(verdict.instances >= 60);
      CHECK(verdict.elements > 100);
    }
  }

  TEST_CASE("patterns that do not are refuted, and the counterexample shows it") {
    for (const Case& each : kWrong) {
      CAPTURE(each.first);
      const PatternVerdict verdict = verdict_of(text_of(each), 300);
      INFO(spelling(verdict));
      REQUIRE(verdict.kind == PatternVerdict::Kind::kRefuted);
      REQUIRE(verdict.counterexample);
      const Counterexample& found = *verdict.counterexample;
      const auto before = run(found.before, found.inputs), after = run(found.after, found.inputs);
      REQUIRE(before.size() == found.expected.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(std::ranges::equal(before[i].bytes(), found.expected[i].bytes()));
        CHECK(std::ranges::equal(after[i].bytes(), found.actual[i].bytes()));
      }
      CHECK_FALSE(std::ranges::equal(before[0].bytes(), after[0].bytes()));
      // Where all values of a type were tried, one is enough to show it.
      const auto values = validate::all_values(found.inputs[0].dtype());
      CHECK_FALSE((values && found.inputs[0].elements() == values->elements()));
    }
  }

  TEST_CASE("all values of small types, bounds on exact integers") {
    const PatternVerdict whole = verdict_of(text_of(kRight[0]));
    constexpr std::string_view kAll =
        "all values of Int8 UInt8 Int16 UInt16 Float16 BFloat16 Float8E4M3 Float8E5M2";
    CHECK(spelling(whole).find(kAll) != std::string::npos);
    // Some instances that are drawn do not match; the next ones may.
    const PatternVerdict some =
        verdict_of(text_of({"claim:value, where:\"$a > 0\"", "%x",
                            "linalg.D.ClipOp [min_val:$a, max_val:$b] (%x) -> (%y) "
                            "linalg.D.ClipOp [min_val:$a, max_val:$b] (%y) -> (%z)",
                            "linalg.D.ClipOp [min_val:$a, max_val:$b] (%x) -> (%z)"}));
    CHECK(spelling(some).find(kAll) != std::string::npos);
    const PatternVerdict exact = verdict_of(text_of(kRight[13]), 200);
    CHECK(exact.exact > 0);
    INFO(spelling(exact));
    CHECK(spelling(exact).find(", finite inputs up to 100, ") != std::string::npos);
    const PatternVerdict rounded = verdict_of(text_of(kRight[11]));
    CHECK(rounded.exact == 0);
  }

  TEST_CASE("the patterns that come with the toolkit keep what they claim") {
    constexpr std::uint64_t kCount = 100 / test::kCaseStride;
    std::size_t tried = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::kRoot / "src/passes/patterns")) {
      if (entry.path().extension() != ".mir") continue;
      CAPTURE(entry.path().string());
      Reading reading(test::read_whole(entry.path()));
      Diagnostics found;
      verify(reading.module(), found);
      CHECK(test::lines_of(found, reading.context) == std::vector<std::string>{});
      for (const PatternVerdict& verdict : validate_patterns(reading.module(), {.count = kCount})) {
        INFO(spelling(verdict));
        // The few instances that sanitizers try decide nothing about rarely matching patterns.
        if (!test::kIsSanitized) CHECK(verdict.kind == PatternVerdict::Kind::kKept);
        CHECK(verdict.kind != PatternVerdict::Kind::kRefuted);
        CHECK(verdict.instances > kCount * 2 / 5);
        ++tried;
      }
    }
    CHECK(tried > 25);
  }

  TEST_CASE("equal seeds give equal verdicts") {
    Reading reading(text_of(kRight[7]));
    const auto tried = [&](std::uint64_t seed) {
      return spelling(validate_patterns(reading.module(), {.count = 30, .seed = seed}).front());
    };
    CHECK(tried(1) == tried(1));
    CHECK(tried(1) != tried(2));
  }

  TEST_CASE("a seed draws the same instances in all versions") {
    std::vector<std::string> lines;
    for (const Case& each : kRight) lines.push_back(spelling(verdict_of(text_of(each), 40)));
    for (const Case& each : kWrong) {
      const PatternVerdict verdict = verdict_of(text_of(each), 300);
      std::istringstream text(spelling(verdict));
      for (std::string line; std::getline(text, line);) lines.push_back(line);
      std::istringstream before(verdict.counterexample->before);
      for (std::string line; std::getline(before, line);) lines.push_back(line);
    }
    CHECK(lines == test::stored_lines("testdata/unit/validate/stored_verdicts.txt", lines));
  }

  TEST_CASE("a larger count begins with the instances of a smaller one") {
    // Rounded twice, one of the sums.
    const std::string text =
        text_of({"claim:value", "%x:tensor<[$n..], Float32, D>, %u:tensor<[$n..], Float32, D>",
                 "linalg.D.SubOp(%x, %u) -> (%s) linalg.D.CastTypeOp [dtype:BFloat16] (%s) -> (%z)",
                 "linalg.D.CastTypeOp [dtype:Float64] (%x) -> (%a) "
                 "linalg.D.CastTypeOp [dtype:Float64] (%u) -> (%b) linalg.D.SubOp(%a, %b) -> (%s) "
                 "linalg.D.CastTypeOp [dtype:BFloat16] (%s) -> (%z)"});
    const PatternVerdict first = verdict_of(text, 100);
    REQUIRE(first.kind == PatternVerdict::Kind::kRefuted);
    for (const std::uint64_t count : {101, 150, 1000, 3000}) {
      CHECK(spelling(verdict_of(text, count)) == spelling(first));
    }
  }

  TEST_CASE("numbers near halfway points of narrower types are drawn") {
    for (const auto& each :
         {std::pair("Float64", "Float32"), std::pair("Float32", "Float16"),
          std::pair("Float32", "BFloat16"), std::pair("Float16", "Float8E4M3")}) {
      const char *const middle = each.first, *const last = each.second;
      CAPTURE(last);
      const Case twice{"claim:value, where:\"is_float(dtype(%x)) || is_integer(dtype(%x))\"", "%x",
                       "linalg.D.CastTypeOp [dtype:MIDDLE] (%x) -> (%y) "
                       "linalg.D.CastTypeOp [dtype:LAST] (%y) -> (%z)",
                       "linalg.D.CastTypeOp [dtype:LAST] (%x) -> (%z)"};
      std::string text = text_of(twice);
      text.replace(text.find("MIDDLE"), 6, middle);
      for (int i = 0; i < 2; ++i) text.replace(text.find("LAST"), 4, last);
      CHECK(verdict_of(text, 300).kind == PatternVerdict::Kind::kRefuted);
    }
  }

  TEST_CASE("operands that are equal are drawn, infinities too") {
    // The difference of equal numbers is +0 in both orders; that of equal infinities is a NaN.
    const std::string attributes = "claim:value, where:\"is_float(dtype(%x))\"";
    CHECK(verdict_of(text_of({attributes, "%x, %u", "linalg.D.SubOp(%x, %u) -> (%z)",
                              "linalg.D.SubOp(%u, %x) -> (%y) linalg.D.NegOp(%y) -> (%z)"}),
                     100)
              .kind == PatternVerdict::Kind::kRefuted);
  }

  TEST_CASE("too few instances are no verdict, and what was never drawn is named") {
    const PatternVerdict rare = verdict_of(text_of(
        {"where:\"shape(%x) == [34, 17, 11]\"", "%x",
         "linalg.D.AbsOp(%x) -> (%y) linalg.D.AbsOp(%y) -> (%z)", "linalg.D.AbsOp(%x) -> (%z)"}));
    CHECK(rare.kind == PatternVerdict::Kind::kUndecided);
    const PatternVerdict open =
        verdict_of(text_of({"where:\"$k || rank(%x) == 9\"", "%x",
                            "linalg.D.ReduceSumOp [dim:0, keep_dim:$k] (%x) -> (%z)",
                            "linalg.D.ReduceSumOp [dim:0, keep_dim:$k] (%x) -> (%z)"}));
    INFO(spelling(open));
    CHECK(open.kind == PatternVerdict::Kind::kKept);
    const std::vector<std::string> missing = {"keep_dim:false",
                                              "side 2 of condition '$k || rank(%x) == 9'"};
    CHECK(open.missing_branches == missing);
    CHECK(open.missing_ranks == std::vector<std::size_t>{0});
    CHECK(spelling(open).find("; never drawn: types ") != std::string::npos);
    CHECK(spelling(open).ends_with(
        "ranks 0, branches keep_dim:false, side 2 of condition '$k || rank(%x) == 9'"));
  }

  TEST_CASE("inputs of one rank are no verdict where other ranks match") {
    const std::string ops = "linalg.D.ReduceMaxOp [dim:0] (%x) -> (%y) linalg.D.NegOp(%y) -> (%z)";
    const auto verdict_where = [&](const std::string& where) {
      return verdict_of(text_of({"claim:value, where:\"" + where + "\"", "%x", ops, ops}));
    };
    // The maximum of nothing stops a run.
    const PatternVerdict one = verdict_where(
        "rank(%x) == 2 && shape(%x)[0] > 0 || rank(%x) == 3 && shape(%x)[0] == 0 && "
        "shape(%x)[1] > 0 && shape(%x)[2] > 0");
    INFO(spelling(one));
    CHECK(one.kind == PatternVerdict::Kind::kUndecided);
    CHECK(one.reason == "the inputs that ran have one rank, expected two or more");
    CHECK(one.missing_ranks == std::vector<std::size_t>{0, 1, 3, 4});
    CHECK(one.stopped > 0);
    CHECK(verdict_where("rank(%x) == 2 && shape(%x)[0] > 0").kind == PatternVerdict::Kind::kKept);
    CHECK(verdict_where("rank(%x) in [2, 3] && shape(%x)[0] > 0").kind ==
          PatternVerdict::Kind::kKept);
  }

  TEST_CASE("open bounds of slices are drawn") {
    const PatternVerdict verdict = verdict_of(text_of(
        {"", "%x", "linalg.D.SliceOp [indices:[{start:0, end:_}]] (%x) -> (%z)", "", "%x"}));
    INFO(spelling(verdict));
    CHECK(verdict.kind == PatternVerdict::Kind::kKept);
    CHECK(verdict.instances == 60);
  }

  TEST_CASE("what cannot be tried says why") {
    CHECK(spelling(verdict_of(
              text_of({"where:\"1 == 2\"", "%x", "linalg.D.NegOp(%x) -> (%z)", "", "%x"}))) ==
          "pattern 'p' is undecided: none of 12000 instances could be run; the last one did not "
          "match: condition '1 == 2' does not hold");
  }
}

}  // namespace validate_patterns_test
