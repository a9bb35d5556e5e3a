#include "verify/repair.hpp"

#include <doctest/doctest.h>

#include <random>
#include <utility>

#include "../ir/read.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"

using namespace mir;

namespace repair_test {

namespace {

/// A portable module with this op and a parameter `@up.weight`, a graph `@scale`.
std::string module_of(const std::string& op) {
  return "@main [mir_version:1] (%0:tensor<[2, 4], Float32, CPU>) -> () {\n"
         "graph.SubGraphOp @init <CPU> {\n() -> () {\n"
         "tensor.CPU.register () -> (%7:tensor<[3, 4], Float32, CPU>[@up.weight]) "
         "[symbol:up.weight]\n}\n}\n"
         "graph.SubGraphOp @scale <CPU> {\n() -> () {\ncf.ReturnOp () -> ()\n}\n}\n" +
         op + "\ncf.ReturnOp () -> ()\n}\n";
}

/// The op after repair of its module; `same` when nothing changed.
std::string repaired(const std::string& op) {
  const std::string text = module_of(op);
  const Repair first = repair("f", text);
  CHECK(repair("f", first.text).text == first.text);
  CHECK((first.rounds == 0) == (first.text == text));
  if (first.text == text) return "same";
  const std::string empty = module_of("");
  const auto begin = empty.rfind("\ncf.ReturnOp");
  return first.text.substr(begin, first.text.size() - empty.size());
}

/// The text that is offered to a call that lacks `count` operands, where as many values are seen.
std::string offered_operands(int count) {
  const auto list = [&](int first) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += (i == 0 ? "%" : ", %") + std::to_string(first + i) + ":tensor<[2, 4], Float32, CPU>";
    }
    return text;
  };
  test::Reading reading("@main [mir_version:1] (" + list(0) +
                        ") -> () {\ngraph.SubGraphOp @g <CPU> {\n(" + list(100) +
                        ") -> () {\ncf.ReturnOp () -> ()\n}\n}\n" +
                        "graph.CallGraphOp @g () -> ()\ncf.ReturnOp () -> ()\n}\n");
  REQUIRE_FALSE(reading.diagnostics.has_errors());
  verify(*reading.modules.front(), reading.diagnostics);
  const auto problems = reading.diagnostics.sorted();
  REQUIRE(problems.size() == 1);
  return problems[0].proposals.empty() ? "none" : problems[0].proposals[0].replacement;
}

/// The hint of the first problem of an op.
std::string hint_of(const std::string& op) {
  test::Reading reading(module_of(op));
  if (!reading.diagnostics.has_errors()) verify(*reading.modules.front(), reading.diagnostics);
  const auto list = reading.diagnostics.sorted();
  return list.empty() ? "no problem" : list.front().hint;
}

}  // namespace

TEST_SUITE("repair") {
  TEST_CASE("names that may be meant are suggested and left alone") {
    CHECK(hint_of("linalg.CPU.SubOp (%0, %1) -> (%2)") == "");
    CHECK(hint_of("graph.CallGraphOp @scald () -> ()") == "did you mean 'scale'?");
    CHECK(repaired("graph.CallGraphOp @scald () -> ()") == "same");
    CHECK(repaired("graph.CallGraphOp @sclae () -> ()") == "graph.CallGraphOp @scale () -> ()");
    CHECK(repaired("linalg.CPU.LinearOp <name=\"ub\"> [in_channels:4, out_channels:3] (%0) -> "
                   "(%1:tensor<[2, 3], Float32, CPU>)") == "same");
  }

  TEST_CASE("ranges of quantisation are mended in dumps, which have them for findings") {
    const auto dump = [](const std::string& high) {
      return "@main () -> () {\ntensor.CPU.alloc () -> (%1:tensor<[4], UInt16PerTensor, CPU>"
             "[quant_recipe:QuantSpec(AsymPerTensor(quant_min: 0, quant_max: " +
             high +
             ", quant_to_type: UInt16, scale_type: Float32, zero_point_type: Int32), "
             "uuid=1)])\n}\n";
    };
    CHECK(repair("f", dump("65536")).text == dump("65535"));
    CHECK(repair("f", dump("65535")).rounds == 0);
  }

  TEST_CASE("a call that lacks a few operands is offered values") {
    CHECK(offered_operands(1) == "%0");
    CHECK(offered_operands(3) == "%0, %1, %2");
    CHECK(offered_operands(16).ends_with("%14, %15"));
    CHECK(offered_operands(17) == "none");
  }

  TEST_CASE("names that are a slip away from a known one are suggested and repaired") {
    CHECK(hint_of("linalg.CPU.SiluOp (%0) -> (%1:tensor<[2, 4], Float32, CPU>)") ==
          "did you mean 'linalg.CPU.SiLUOp'?");
    CHECK(repaired("linalg.QNN.SiluOp (%0) -> (%1:tensor<[2, 4], Float32, CPU>)") ==
          "linalg.QNN.SiLUOp (%0) -> (%1:tensor<[2, 4], Float32, CPU>)");
    CHECK(repaired("linalg.CPU.SoftmaxOp [axs:1] (%0) -> (%1)") ==
          "linalg.CPU.SoftmaxOp [axis:1] (%0) -> (%1)");
    CHECK(repaired("linalg.CPU.CastTypeOp [dtype:Flaot16] (%0) -> (%1:tensor<[2, 4], Float16, "
                   "CPU>)") ==
          "linalg.CPU.CastTypeOp [dtype:Float16] (%0) -> (%1:tensor<[2, 4], Float16, CPU>)");
    CHECK(repaired("graph.CallGraphOp @scal () -> ()") == "graph.CallGraphOp @scale () -> ()");
    CHECK(repaired("graph.CallGraphOp @\"scal\" () -> ()") ==
          "graph.CallGraphOp @\"scale\" () -> ()");
    CHECK(repaired("linalg.CPU.LinearOp <name=\"upp\"> [bias:false] (%0) -> (%1:tensor<[2, 3], "
                   "Float32, CPU>)") ==
          "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%0) -> (%1:tensor<[2, 3], Float32, "
          "CPU>)");
  }

  TEST_CASE("values, aliases and element types that are a slip away are suggested and repaired") {
    const std::string good =
        "#spec = QuantSpec(Raw(type: Float32), uuid=1)\n"
        "@main [mir_version:1] (%input:tensor<[2], Float32, CPU>) -> () {\n"
        "linalg.CPU.SiLUOp (%input) -> (%1:tensor<[2], Float32, CPU>[quant_recipe:#spec])\n"
        "linalg.CPU.AddOp (%input:tensor<[2], Float32, CPU>, %1) -> (%2:tensor<[2], Float32, "
        "CPU>)\n"
        "cf.ReturnOp () -> ()\n}\n";
    const auto broken = [&](const std::string& from, const std::string& to) {
      std::string text = good;
      return text.replace(text.rfind(from), from.size(), to);
    };
    CHECK(repair("f", good).text == good);
    for (const std::string& text :
         {broken("%input:", "%inptu:"), broken("(%input)", "(%inpt)"), broken("#spec]", "#spce]"),
          broken("Float32, CPU>)\ncf", "Flaot32, CPU>)\ncf")}) {
      CAPTURE(text);
      const Repair fixed = repair("f", text);
      CHECK(fixed.text == good);
      CHECK(fixed.rounds == 1);
    }
    // Numbers are no slips of each other, and two names may be equally near.
    CHECK(repair("f", broken("%1) ->", "%3) ->")).text == broken("%1) ->", "%3) ->"));
  }

  TEST_CASE("names that are far from every known one, or near to several, are left") {
    for (const char* op : {"my.Op (%0) -> ()", "graph.CallGraphOp @decoder () -> ()",
                           "linalg.CPU.SoftmaxOp [axis:1, colour:1] (%0) -> (%1)",
                           "linalg.CPU.MatMulOp [transpose:true] (%0, %0) -> (%1:tensor<[2, 2], "
                           "Float32, CPU>)"}) {
      CAPTURE(op);
      CHECK(hint_of(op) != test::Part{"'my"});
      CHECK(repaired(op) == "same");
    }
  }

  TEST_CASE("missing quotes and other notations are repaired, several in one line as well") {
    CHECK(repaired("linalg.CPU.SiLUOp [quant_recipe:a b] (%0) -> (%1)") ==
          "linalg.CPU.SiLUOp [quant_recipe:\"a b\"] (%0) -> (%1)");
    CHECK(repaired("linalg.CPU.TransposeOp [dim0=0, dim1=1] (%0) -> (%1)") ==
          "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%0) -> (%1)");
    CHECK(repaired("linalg.CPU.TransposeOp [dm0=0, dim1=1] (%0) -> (%1:tensor<[4, 2], Float32, "
                   "CPU>)") ==
          "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%0) -> (%1:tensor<[4, 2], Float32, CPU>)");
  }

  TEST_CASE("a quantised range is put in order and into its type, in every mention") {
    const auto ops = [](const std::string& range) {
      const std::string value =
          "%1:tensor<[2, 4], Float32, CPU>[quant_recipe:QuantSpec(SymPerTensor(" + range +
          ", quant_to_type: Int8, scale_type: Float32), uuid=1, solved=0)]";
      return "linalg.CPU.NegOp (%0) -> (" + value + ")\nlinalg.CPU.NegOp (" + value + ") -> (%2)";
    };
    const std::string good = ops("quant_min: -128, quant_max: 127");
    CHECK(repaired(good) == "same");
    CHECK(repaired(ops("quant_min: 127, quant_max: -128")) == good);
    CHECK(repaired(ops("quant_min: -200, quant_max: 255")) == good);
    CHECK(hint_of(ops("quant_min: 0, quant_max: 255")) == "did you mean 0 to 127?");
    CHECK(repaired(ops("quant_min: 300, quant_max: 400")) == "same");
  }

  TEST_CASE(
      "a quantised range is put in order in its module and among the aliases, not elsewhere") {
    const std::string spec =
        "QuantSpec(SymPerTensor(quant_min: 7, quant_max: 3, quant_to_type: Int8, "
        "scale_type: Float32), uuid=1)";
    const std::string use = "(%0:tensor<[2, 4], Float32, CPU>[quant_recipe:";
    const std::string text = "#q = " + spec + "\n@first [mir_version:1] " + use + "#q]) -> () {\n" +
                             "cf.ReturnOp () -> ()\n}\n@second [mir_version:1] " + use + spec +
                             "]) -> () {\ncf.ReturnOp () -> ()\n}\n";
    test::Reading reading(text);
    REQUIRE(reading.modules.size() == 2);
    const auto repaired_lines = [&](const Module& module) {
      Diagnostics found;
      verify(module, found);
      const std::vector<Diagnostic> list = found.sorted();
      REQUIRE(list.size() == 1);
      std::vector<std::uint32_t> lines;
      for (const FixIt& fix : list.front().fixes) {
        const SourceFile& file = *reading.context.sources().file_of(fix.at.begin);
        lines.push_back(file.line_column(fix.at.begin).line);
      }
      return lines;
    };
    CHECK(repaired_lines(*reading.modules[0]) == std::vector<std::uint32_t>{1});
    CHECK(repaired_lines(*reading.modules[1]) == std::vector<std::uint32_t>{1, 5});
  }

  TEST_CASE("a text that does not parse in the end is left as it is") {
    CHECK(repaired("linalg.CPU.TransposeOp [dim0=0 dim1 1) (%0) -> (%1)") == "same");
    CHECK(repaired("linalg.CPU.SoftmaxOp [axis=1] (%0) ->") == "same");
    CHECK(repair("f", "").text.empty());
    CHECK(repair("f", std::string("\0\xff", 2)).rounds == 0);
  }

  TEST_CASE("of any text repair makes one that parses and stays, or leaves it") {
    const std::string good = module_of(
        "linalg.CPU.LinearOp <name=\"up\"> [bias:false, quant_recipe:\"a b\"] (%0) -> "
        "(%1:tensor<[2, "
        "3], Float32, CPU>)\ngraph.CallGraphOp @scale () -> ()");
    std::mt19937 random(1);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    for (int round = 0; round < 400; ++round) {
      std::string text = good;
      for (std::size_t slips = 1 + below(4); slips > 0; --slips) {
        const std::size_t at = below(text.size() - 1);
        constexpr std::string_view kBytes = "=:@\"ax ,][)\n\xff";
        switch (below(4)) {
          case 0:
            text.erase(at, 1);
            break;
          case 1:
            text.insert(at, 1, kBytes[below(kBytes.size())]);
            break;
          case 2:
            text[at] = kBytes[below(kBytes.size())];
            break;
          default:
            std::swap(text[at], text[at + 1]);
        }
      }
      CAPTURE(text);
      const Repair result = repair("f", text);
      REQUIRE(repair("f", result.text).text == result.text);
      if (result.rounds == 0) {
        REQUIRE(result.text == text);
        continue;
      }
      const SourceFile file("f", result.text, 1);
      Diagnostics diagnostics;
      REQUIRE(parse(file, diagnostics));
    }
  }

  TEST_CASE("edits are made from the first on, and of overlapping ones the first counts") {
    const SourceFile file("f", "abcdef", 10);
    Diagnostic a, b, c, d;
    a.fix({12, 14}, "XY").fix({10, 10}, "<");
    b.fix({13, 15}, "no");
    c.fix({16, 16}, ">");
    d.fix({9, 12}, "outside");
    CHECK(apply_fixes(file, std::vector{a, b, c, d}) == "<abXYef>");
    CHECK(apply_fixes(file, std::vector{b, a, c}) == "abcnof>");
    CHECK(apply_fixes(file, {}) == "abcdef");
  }
}

}  // namespace repair_test
