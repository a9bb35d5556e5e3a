// Which slices and exchanges of dimensions move past other ops, and the shortest bounds of slices.
#include <fmt/format.h>

#include <regex>

#include "../ir/flow_dialect.hpp"
#include "expression.hpp"
#include "known_passes.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::expression;
using mir::test::FlowReading;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;
using mir::test::with_types;

namespace motion_test {

namespace {

/// What the outputs of a body are computed by after the pipeline, which leaves a sound module.
Lines outputs_after(std::string_view pipeline, const std::string& inputs, const std::string& ops,
                    const std::string& outputs) {
  Reading reading(with_types(
      fmt::format("@main [mir_version:1] ({}) -> ({}) {{\n"
                  "graph.SubGraphOp @init <notype> {{\n() -> () {{\n"
                  "tensor.CPU.register () -> (%w:f[3, 4][@head.weight])[symbol:head.weight]\n"
                  "tensor.CPU.register () -> (%v:f[4][@norm.weight])[symbol:norm.weight]\n"
                  "}}\n}}\n{}cf.ReturnOp ({}) -> ()\n}}\n",
                  inputs, outputs, ops, outputs)));
  Passes all;
  CHECK(all.run(reading.module(), pipeline) == Lines{});
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  Lines list;
  for (const Use& use : reading.module().body().only_block().back()->operand_uses()) {
    list.push_back(expression(*use.value(), reading.context));
  }
  return list;
}

std::string narrowed(const std::string& ops) {
  return outputs_after("narrow-slices", "%x:f[5, 3, 4], %y:f[5, 3, 4], %r:f[4], %k:f[1]", ops, "%z")
      .front();
}

std::string sunk(const std::string& ops) {
  return outputs_after("sink-transposes", "%x:f[3, 3], %y:f[3, 3], %r:f[3], %k:f[1], %u:f[1, 3]",
                       ops, "%z")
      .front();
}

/// The bounds of dimension 0, which has this extent, as `simplify` writes them.
std::string shortest(const std::string& bounds, const std::string& extent = "10") {
  const Lines lines = outputs_after(
      "simplify", "%x:f[" + extent + ", 4]",
      "linalg.CPU.SliceOp [indices:[" + bounds + R"(, {"end":3}]] (%x) -> (%z))" + "\n", "%z");
  std::smatch found;
  const bool fits =
      std::regex_match(lines.front(), found, std::regex(R"(Slice\[\[(.*), \{"end":3\}\]\]\(x\))"));
  return fits ? found[1].str() : lines.front();
}

}  // namespace

TEST_SUITE("narrow-slices") {
  const std::string kRows = R"(linalg.CPU.SliceOp [indices:[{"end":2}, {}, {}]] (%a) -> (%z))"
                            "\n";
  const std::string kColumns = R"(linalg.CPU.SliceOp [indices:[{}, {}, {"end":2}]] (%a) -> (%z))"
                               "\n";

  TEST_CASE("a slice passes an elementwise op, on all operands with the extents of the result") {
    CHECK(narrowed("linalg.CPU.NegOp (%x) -> (%a)\n" + kColumns) ==
          R"(Neg(Slice[[{}, {}, {"end":2}]](x)))");
    CHECK(narrowed("linalg.CPU.AddOp (%x, %y) -> (%a)\n" + kRows) ==
          R"(Add(Slice[[{"end":2}, {}, {}]](x), Slice[[{"end":2}, {}, {}]](y)))");
    CHECK(narrowed("linalg.CPU.AddOp (%k, %y) -> (%a)\n" + kRows) ==
          R"(Add(k, Slice[[{"end":2}, {}, {}]](y)))");
    CHECK(narrowed("linalg.CPU.AddOp (%r, %y) -> (%a)\n" + kRows) ==
          R"(Slice[[{"end":2}, {}, {}]](Add(r, y)))");
  }

  TEST_CASE("a slice passes an op on rows if it takes whole rows") {
    const std::string norm =
        "linalg.CPU.LayerNormOp [normalized_shape:[3, 4], elementwise_affine:false, bias:false, "
        "eps:1e-5] (%x) -> (%a)\n";
    CHECK(narrowed(norm + kRows).starts_with("LayerNorm["));
    CHECK(narrowed(norm + kColumns).starts_with("Slice["));
    const std::string middle = R"(linalg.CPU.SliceOp [indices:[{}, {"end":2}, {}]] (%a) -> (%z))"
                               "\n";
    CHECK(narrowed(norm + middle).starts_with("Slice["));
    const std::string root = "linalg.CPU.RMSNormOp <name=\"norm\"> [epsilon:1e-6] (%x) -> (%a)\n";
    CHECK(narrowed(root + middle).starts_with("RMSNorm["));
    CHECK(narrowed(root + kColumns).starts_with("Slice["));
    const std::string linear =
        "linalg.CPU.LinearOp <name=\"head\"> [in_channels:4, out_channels:3, bias:false] (%x) -> "
        "(%a)\n";
    CHECK(narrowed(linear + middle).starts_with("Linear["));
    CHECK(narrowed(linear + kColumns).starts_with("Slice["));
  }

  TEST_CASE("a slice stays behind other ops, and behind what has more users or none computes") {
    CHECK(narrowed("linalg.CPU.SoftmaxOp [axis:2] (%x) -> (%a)\n" + kRows).starts_with("Slice["));
    CHECK(narrowed(R"(linalg.CPU.SliceOp [indices:[{"end":2}, {}, {}]] (%x) -> (%z))"
                   "\n") == R"(Slice[[{"end":2}, {}, {}]](x))");
    const Lines both = outputs_after("narrow-slices", "%x:f[5, 3, 4]",
                                     "linalg.CPU.NegOp (%x) -> (%a)\n" + kRows, "%z, %a");
    CHECK(both == Lines{R"(Slice[[{"end":2}, {}, {}]](Neg(x)))", "Neg(x)"});
    CHECK(narrowed("linalg.CPU.NegOp (%x) -> (%a)\n"
                   "linalg.CPU.SliceOp [indices:[{}, {}, {}]] (%a) -> (%z)\n") ==
          "Slice[[{}, {}, {}]](Neg(x))");
    CHECK(narrowed("linalg.CPU.CastTypeOp [dtype:Int8] (%x) -> (%q)\n"
                   "linalg.CPU.CastTypeOp [dtype:Float32] (%q) -> (%a)\n" +
                   kRows)
              .find("Slice[[{\"end\":2}, {}, {}]](x)") != std::string::npos);
  }

  TEST_CASE("a slice in a region stays there") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$, %c:$) -> (%z:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%x) -> (%a:$)\n"
        "flow.if () -> (%z:tensor<[1], Float32, CPU>) {\n"
        "() -> (%n:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.SliceOp [indices:[{\"end\":1}]] (%a) -> (%n:tensor<[1], Float32, CPU>)\n"
        "flow.yield (%n) -> () }\n"
        "() -> (%m:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.SliceOp [indices:[{\"end\":1}]] (%c) -> (%m:tensor<[1], Float32, CPU>)\n"
        "flow.yield (%m) -> () }\n}\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    const std::string before = print(reading.module());
    Passes all;
    CHECK(all.run(reading.module(), "narrow-slices") == Lines{});
    CHECK(print(reading.module()) == before);
  }
}

TEST_SUITE("sink-transposes") {
  const std::string kX = "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%x) -> (%a)\n";
  const std::string kY = "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%y) -> (%b)\n";

  TEST_CASE("an exchange of all operands moves behind an elementwise op, past one number") {
    CHECK(sunk(kX + "linalg.CPU.NegOp (%a) -> (%z)\n") == "Transpose[0][1](Neg(x))");
    CHECK(sunk(kX + kY + "linalg.CPU.SubOp (%b, %a) -> (%z)\n") == "Transpose[0][1](Sub(y, x))");
    CHECK(sunk(kX + "linalg.CPU.SubOp (%k, %a) -> (%z)\n") == "Transpose[0][1](Sub(k, x))");
    CHECK(
        sunk("linalg.CPU.PermuteOp [axis:[1, 0]] (%x) -> (%a)\nlinalg.CPU.NegOp (%a) -> (%z)\n") ==
        "Permute[[1, 0]](Neg(x))");
    CHECK(sunk(kX + "linalg.CPU.NegOp (%a) -> (%n)\nlinalg.CPU.ExpOp (%n) -> (%z)\n") ==
          "Transpose[0][1](Exp(Neg(x)))");
  }

  TEST_CASE("all users of a result get the exchange behind it") {
    CHECK(outputs_after("sink-transposes", "%x:f[2, 3]", kX + "linalg.CPU.NegOp (%a) -> (%z)\n",
                        "%z, %z") == Lines{"Transpose[0][1](Neg(x))", "Transpose[0][1](Neg(x))"});
  }

  TEST_CASE("an exchange stays before what other operands or users need") {
    CHECK(sunk(kX + "linalg.CPU.SubOp (%a, %y) -> (%z)\n") == "Sub(Transpose[0][1](x), y)");
    CHECK(sunk(kX + "linalg.CPU.SubOp (%a, %r) -> (%z)\n") == "Sub(Transpose[0][1](x), r)");
    CHECK(sunk(kX + "linalg.CPU.SubOp (%a, %a) -> (%z)\n") ==
          "Sub(Transpose[0][1](x), Transpose[0][1](x))");
    CHECK(sunk(kX + "linalg.CPU.PermuteOp [axis:[1, 0]] (%y) -> (%b)\nlinalg.CPU.SubOp (%a, %b) -> "
                    "(%z)\n") == "Sub(Transpose[0][1](x), Permute[[1, 0]](y))");
    CHECK(sunk("linalg.CPU.TransposeOp [dim0:0, dim1:1] (%u) -> (%b)\n" + kX +
               "linalg.CPU.SubOp (%a, %b) -> (%z)\n") ==
          "Sub(Transpose[0][1](x), Transpose[0][1](u))");
    CHECK(outputs_after("sink-transposes", "%x:f[2, 3]", kX + "linalg.CPU.NegOp (%a) -> (%z)\n",
                        "%z, %a") == Lines{"Neg(Transpose[0][1](x))", "Transpose[0][1](x)"});
    CHECK(sunk("linalg.CPU.AddOp (%x, %k) -> (%z)\n") == "Add(x, k)");
  }
}

TEST_SUITE("bounds of slices") {
  TEST_CASE("bounds of a known extent are spelled as few numbers from its begin") {
    CHECK(shortest(R"({"start":2,"end":10})") == R"({"start":2})");
    CHECK(shortest(R"({"start":2,"end":9})") == R"({"start":2,"end":9})");
    CHECK(shortest(R"({"start":-3})") == R"({"start":7})");
    CHECK(shortest(R"({"end":-3})") == R"({"end":7})");
    CHECK(shortest(R"({"start":0,"end":1})") == R"({"end":1})");
    CHECK(shortest(R"({"start":1,"end":2})") == R"({"start":1,"end":2})");
    CHECK(shortest(R"({"start":3,"end":3})") == R"({"end":0})");
    CHECK(shortest(R"({"start":0,"end":10,"step":1})") == "{}");
  }

  TEST_CASE("a step stays if it is one, and an end if the step goes further") {
    CHECK(shortest(R"({"start":9,"step":4})") == R"({"start":9})");
    CHECK(shortest(R"({"start":8,"end":9,"step":9})") == R"({"start":8,"end":9})");
    CHECK(shortest(R"({"step":3})") == R"({"step":3})");
    CHECK(shortest(R"({"end":9,"step":3})") == R"({"end":7,"step":3})");
    CHECK(shortest(R"({"end":9,"step":4})") == R"({"step":4})");
    CHECK(shortest(R"({"end":8,"step":2})") == R"({"end":7,"step":2})");
    CHECK(shortest(R"({"start":1,"end":10,"step":2})") == R"({"start":1,"step":2})");
  }

  TEST_CASE("bounds of a symbolic extent lose what is the default") {
    CHECK(shortest(R"({"start":0,"end":$S,"step":1})", "$S") == "{}");
    CHECK(shortest(R"({"start":-1,"end":0})", "$S") == R"({"start":-1})");
    CHECK(shortest(R"({"start":-1,"end":$S})", "$S") == R"({"start":-1})");
    CHECK(shortest(R"({"start":0,"end":1})", "$S") == R"({"end":1})");
    CHECK(shortest(R"({"start":1,"end":$S,"step":2})", "$S") == R"({"start":1,"step":2})");
    CHECK(shortest("all", "$S") == "{}");
    CHECK(shortest(R"({"start":all,"end":2147483633})", "$S") == "{}");
    CHECK(shortest(R"({"start":1,"end":$S-1})", "$S") == R"({"start":1,"end":$S-1})");
  }
}

}  // namespace motion_test
