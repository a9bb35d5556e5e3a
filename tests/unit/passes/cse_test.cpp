// What `cse` merges, and what stays.
#include <string>

#include "../ir/flow_dialect.hpp"
#include "known_passes.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::FlowReading;
using mir::test::Lines;
using mir::test::Passes;

namespace cse_test {

namespace {

/// The ops left, those in regions too, without terminators.
std::string left(FlowReading& reading) {
  Passes all;
  CHECK(all.run(reading.module(), "cse") == Lines{});
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  std::string names;
  for_each_op(reading.module(), [&](const Op& op) {
    if (op.has(Trait::kTerminator)) return;
    names += (names.empty() ? "" : " ") + std::string(op.info().mnemonic);
  });
  const std::string once = print(reading.module());
  CHECK(all.run(reading.module(), "cse") == Lines{});
  CHECK(print(reading.module()) == once);
  return names;
}

std::string left(const std::string& text) {
  FlowReading reading(text);
  return left(reading);
}

std::string body(const std::string& lines, const std::string& type = "$") {
  return "@main [mir_version:1] (%x:$) -> (%y:" + type + ", %z:" + type + ") {\n" + lines +
         "cf.ReturnOp (%y, %z) -> ()\n}\n";
}

}  // namespace

TEST_SUITE("cse") {
  TEST_CASE("equal ops are one, with what depends on them") {
    FlowReading reading(
        body("linalg.CPU.MulOp (%x, %h:$[constant:[2.0, 3.0]]) -> (%a:$)\n"
             "linalg.CPU.NegOp (%a) -> (%y:$)\n"
             "linalg.CPU.MulOp (%x, %g:$[constant:[2.0, 3.0]]) -> (%b:$)\n"
             "linalg.CPU.NegOp (%b) -> (%z:$)\n"));
    CHECK(left(reading) == "MulOp NegOp");
    CHECK(reading.module().body().free_values().size() == 1);
    const auto ops = test::ops_of(reading.module().body());
    CHECK(ops[2]->operand(0) == ops[2]->operand(1));
    CHECK(reading.context.locations().kind(ops[0]->location()) == LocationKind::kFused);
  }

  TEST_CASE("calls of a pure graph with equal operands are one") {
    const auto calls = [](const std::string& ops) {
      return left(body("graph.SubGraphOp @f <CPU> { (%u:$) -> (%w:$) {\n" + ops +
                       "cf.ReturnOp (%w) -> () } }\n"
                       "graph.CallGraphOp @f (%x) -> (%a:$)\ngraph.CallGraphOp @f (%x) -> (%b:$)\n"
                       "linalg.CPU.NegOp (%a) -> (%y:$)\nlinalg.CPU.NegOp (%b) -> (%z:$)\n"));
    };
    CHECK(calls("linalg.CPU.ExpOp (%u) -> (%w:$)\n") == "SubGraphOp ExpOp CallGraphOp NegOp");
    CHECK(calls("flow.load () -> (%w:$)\n") ==
          "SubGraphOp load CallGraphOp CallGraphOp NegOp NegOp");
  }

  TEST_CASE("of many ops each is merged with its equal, also after others were forgotten") {
    std::string lines, inner;
    const auto sum = [](int i, const std::string& result) {
      return "linalg.CPU.AddOp (%x, %c" + std::to_string(i) + ":$[constant:[" + std::to_string(i) +
             ".0, 1.0]]) -> (%" + result + ":$)\n";
    };
    for (int i = 0; i < 40; ++i) lines += sum(i, "a" + std::to_string(i));
    for (int i = 39; i >= 0; --i) lines += sum(i, "b" + std::to_string(i));
    FlowReading reading(body(lines + "linalg.CPU.SubOp (%a7, %b7) -> (%y:$)\n" +
                             "linalg.CPU.SubOp (%a31, %b31) -> (%z:$)\n"));
    std::string sums;
    for (int i = 0; i < 40; ++i) sums += "AddOp ";
    CHECK(left(reading) == sums + "SubOp SubOp");
    const auto ops = test::ops_of(reading.module().body());
    CHECK(ops[40]->operand(0) == ops[7]->result());
    CHECK(ops[40]->operand(1) == ops[7]->result());
    CHECK(ops[41]->operand(1) == ops[31]->result());
  }

  TEST_CASE("what was seen in a region is forgotten after it, also of many ops") {
    const auto clips = [](int first, int last, const std::string& name) {
      std::string text;
      for (int i = first; i < last; ++i) {
        const std::string number = std::to_string(i);
        text += "linalg.CPU.ClipOp [min_val:0.0, max_val:" + number + ".5] (%x) -> (%" + name +
                number + ":$)\n";
      }
      return text;
    };
    FlowReading reading(body(
        clips(0, 20, "a") + "flow.scope (%x) -> (%s:$) { (%i:$) -> (%w24:$) {\n" +
        clips(15, 25, "w") + "flow.yield (%w24) -> () } }\n" + clips(20, 25, "b") +
        "linalg.CPU.SubOp (%b20, %a3) -> (%y:$)\n" + "linalg.CPU.SubOp (%b24, %a19) -> (%z:$)\n"));
    std::string names;
    for (int i = 0; i < 20; ++i) names += "ClipOp ";
    names += "scope ";
    for (int i = 0; i < 2 * 5; ++i) names += "ClipOp ";
    CHECK(left(reading) == names + "SubOp SubOp");
    const auto ops = test::ops_of(reading.module().body());
    CHECK(ops[26]->operand(0) == ops[21]->result());
    CHECK(ops[27]->operand(0) == ops[25]->result());
  }

  TEST_CASE(
      "a default is equal to the attribute that states it, and names that own nothing are free") {
    CHECK(left(body("linalg.CPU.SoftmaxOp <name=\"a\"> [axis:-1] (%x) -> (%y:$)\n"
                    "linalg.CPU.SoftmaxOp <name=\"b\"> (%x) -> (%z:$)\n")) == "SoftmaxOp");
    CHECK(left(body("linalg.CPU.ClipOp [min_val:0.0, max_val:2.0] (%x) -> (%y:$)\n"
                    "linalg.CPU.ClipOp [min_val:0.0, max_val:3.0] (%x) -> (%z:$)\n")) ==
          "ClipOp ClipOp");
  }

  TEST_CASE("weights and state belong to names") {
    const auto norm = [](const std::string& name, const std::string& result) {
      return "linalg.CPU.RMSNormOp <name=\"" + name + "\"> [epsilon:1e-6] (%x) -> (%" + result +
             ":$)\n";
    };
    const std::string init =
        "graph.SubGraphOp @init <CPU> { () -> () {\n"
        "tensor.CPU.register () -> (%w:$[@n.weight])[symbol:n.weight]\n"
        "tensor.CPU.register () -> (%v:$[@m.weight])[symbol:m.weight]\n} }\n";
    CHECK(left(body(init + norm("n", "y") + norm("m", "z"))) ==
          "SubGraphOp register register RMSNormOp RMSNormOp");
    CHECK(left(body(init + norm("n", "y") + norm("n", "z"))) ==
          "SubGraphOp register register RMSNormOp");
    CHECK(left(body("flow.load () -> (%y:$)\nflow.load () -> (%z:$)\n")) == "load load");
  }

  TEST_CASE("an op is merged with one that dominates it") {
    const std::string neg = "linalg.CPU.NegOp (%x) -> ";
    // From outside into a region, and not out of it.
    CHECK(left(body(neg + "(%y:$)\nflow.scope (%x) -> (%z:$) { (%i:$) -> (%o:$) {\n" + neg +
                    "(%o:$)\nflow.yield (%o) -> () } }\n")) == "NegOp scope");
    CHECK(left(body("flow.scope (%x) -> (%y:$) { (%i:$) -> (%o:$) {\n" + neg +
                    "(%o:$)\nflow.yield (%o) -> () } }\n" + neg + "(%z:$)\n")) ==
          "scope NegOp NegOp");
    // Neither of two branches dominates the other.
    CHECK(left(body("flow.if () -> (%y:$) { () -> (%a:$) {\n" + neg +
                    "(%a:$)\nflow.yield (%a) -> () } () -> (%b:$) {\n" + neg +
                    "(%b:$)\nflow.yield (%b) -> () } }\n" + neg + "(%z:$)\n")) ==
          "if NegOp NegOp NegOp");
    // A block dominates the next one, wherever that is in the text.
    CHECK(left("@main [mir_version:1] (%x:$) -> () {\n"
               "flow.graph @f { (%a:$) -> (%b:$) {\n"
               "  flow.br () -> () [^first()]\n"
               "^last():\n"
               "  linalg.CPU.NegOp (%a) -> (%b:$)\n"
               "  cf.ReturnOp (%b) -> ()\n"
               "^first():\n"
               "  linalg.CPU.NegOp (%a) -> (%c:$)\n"
               "  linalg.CPU.AbsOp (%c) -> (%d:$)\n"
               "  flow.br () -> () [^last()] } }\n"
               "cf.ReturnOp () -> ()\n}\n") == "graph NegOp AbsOp");
    CHECK(left("@main [mir_version:1] (%x:$) -> () {\n"
               "flow.graph @f { (%a:$) -> (%b:$) {\n"
               "  linalg.CPU.NegOp (%a) -> (%c:$)\n"
               "  flow.br () -> () [^end(%c)]\n"
               "^end(%d:$):\n"
               "  linalg.CPU.NegOp (%a) -> (%e:$)\n"
               "  linalg.CPU.AddOp (%d, %e) -> (%b:$)\n"
               "  cf.ReturnOp (%b) -> () } }\n"
               "cf.ReturnOp () -> ()\n}\n") == "graph NegOp AddOp");
  }

  TEST_CASE("codes are merged where the text gives them one scale") {
    const std::string codes = "tensor<[2], Int8PerTensor, CPU>";
    const auto casts = [&](const std::string& first, const std::string& second) {
      return body("linalg.CPU.CastTypeOp [dtype:Int8PerTensor] (%x) -> (%y:" + codes + first +
                      ")\nlinalg.CPU.CastTypeOp [dtype:Int8PerTensor] (%x) -> (%z:" + codes +
                      second + ")\n",
                  codes);
    };
    CHECK(left(casts("[quant_scale:0.5]", "[quant_scale:0.5]")) == "CastTypeOp");
    CHECK(left(casts("[quant_scale:0.5]", "[quant_scale:0.25]")) == "CastTypeOp CastTypeOp");
    CHECK(left(casts("", "")) == "CastTypeOp CastTypeOp");
    // A user may say that integers are codes, and two users may say it differently.
    const std::string ints = "tensor<[2], Int8, CPU>";
    const auto read = [&](const std::string& from, const std::string& to,
                          const std::string& range) {
      return "linalg.CPU.CastTypeOp [dtype:Float32, quant_recipe:QuantAnnotation(inputs_0:"
             "QuantSpec(SymPerTensor(quant_min: -" +
             range + ", quant_max: " + range +
             ", quant_to_type: Int8, scale_type: Float32), uuid=" + range + ", solved=0), , )] (%" +
             from + ") -> (%" + to + ":$)\n";
    };
    const std::string constants = body(read("a:" + ints + "[constant:[1, 2]]", "y", "127") +
                                       read("b:" + ints + "[constant:[1, 2]]", "z", "100"));
    FlowReading reading(constants);
    CHECK(left(reading) == "CastTypeOp CastTypeOp");
    CHECK(reading.module().body().free_values().size() == 2);
  }
}

}  // namespace cse_test
