// Where `sink` moves ops, the greatest of symbolic extents, and the roles that name inputs.
#include <fmt/format.h>

#include "../ir/flow_dialect.hpp"
#include "known_passes.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "passes/estimate/maximum.hpp"
#include "passes/names/roles.hpp"

using namespace mir;
using mir::test::FlowReading;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace sink_test {

namespace {

/// The kinds of all ops after the pass, in the order of the text; `[` and `]` around regions and
/// `|` between blocks.
std::string order_in(const Region& region) {
  std::string text;
  for (const Block* block : region.blocks()) {
    if (!text.empty()) text += " |";
    for (const Op* op : block->ops()) {
      const std::string_view kind = op->info().mnemonic;
      text += (text.empty() ? "" : " ") + std::string(kind.substr(0, kind.rfind("Op")));
      for (const Region* in = op->first_region(); in != nullptr; in = in->next()) {
        text += " [" + order_in(*in) + "]";
      }
    }
  }
  return text;
}

std::string sunk(FlowReading& reading) {
  Passes all;
  CHECK(all.run(reading.module(), "sink") == Lines{});
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  return order_in(reading.module().body());
}

/// Of a body with inputs %x and %c of type `$`, whose outputs are these.
std::string sunk(const std::string& ops, const std::string& outputs = "%z:$") {
  std::string names;
  for (std::size_t at = outputs.find('%'); at != outputs.npos; at = outputs.find('%', at + 1)) {
    names += (names.empty() ? "" : ", ") + outputs.substr(at, outputs.find(':', at) - at);
  }
  FlowReading reading("@main [mir_version:1] (%x:$, %c:$) -> (" + outputs + ") {\n" + ops +
                      "cf.ReturnOp (" + names + ") -> ()\n}\n");
  return sunk(reading);
}

const std::string kOne = "tensor<[1], Float32, CPU>";

}  // namespace

TEST_SUITE("places of ops that sink") {
  TEST_CASE("a call of a pure graph moves into the region of its user") {
    const auto order = [](const std::string& ops) {
      FlowReading reading(
          "@main [mir_version:2] (%x:$, %t:tensor<[1], Bool, CPU>) -> (%z:$) {\n"
          "graph.SubGraphOp @f <CPU> { (%u:$) -> (%w:$) {\n" +
          ops +
          "cf.ReturnOp (%w) -> () } }\ngraph.CallGraphOp @f (%x) -> (%a:$)\n"
          "cf.IfOp (%t) -> (%z:$) {\n() -> (%b:$) {\nlinalg.CPU.NegOp (%a) -> (%b:$)\n"
          "cf.YieldOp (%b) -> ()\n}\n() -> (%x) {\ncf.YieldOp (%x) -> ()\n} }\n"
          "cf.ReturnOp (%z) -> ()\n}\n");
      return sunk(reading);
    };
    CHECK(order("linalg.CPU.ExpOp (%u) -> (%w:$)\n") ==
          "SubGraph [Exp Return] If [CallGraph Neg Yield] [Yield] Return");
    CHECK(order("flow.load () -> (%w:$)\n") ==
          "SubGraph [load Return] CallGraph If [Neg Yield] [Yield] Return");
  }

  TEST_CASE("an op moves if its results take as much memory as the operands that it keeps") {
    // The sum is smaller than %e, which ends at the op or between it and the user.
    const std::string sum =
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%e) -> (%r:" + kOne + ")\n";
    CHECK(sunk("linalg.CPU.ExpOp (%x) -> (%e:$)\n" + sum +
               "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%z:$)\n") ==
          "Exp ReduceSum load Mul Return");
    CHECK(sunk("flow.load () -> (%e:$)\n" + sum +
               "flow.scope (%e) -> (%n:$) { (%i:$) -> (%o:$) { flow.yield (%i) -> () } }\n"
               "linalg.CPU.MulOp (%n, %r) -> (%z:$)\n") ==
          "load ReduceSum scope [yield] Mul Return");
    // The user, or an op after it, needs %e in any case.
    CHECK(sunk("flow.load () -> (%e:$)\n" + sum +
                   "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%e, %r) -> (%z:$)\n",
               "%z:$, %n:$") == "load load ReduceSum Mul Return");
    CHECK(sunk("flow.load () -> (%e:$)\n" + sum +
                   "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%z:$)\n",
               "%z:$, %e:$") == "load load ReduceSum Mul Return");
    // As many bytes are enough.
    CHECK(sunk("flow.load () -> (%e:$)\nlinalg.CPU.NegOp (%e) -> (%r:$)\n"
               "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%z:$)\n") ==
          "load load Neg Mul Return");
  }

  TEST_CASE("an operand that an op has twice counts once, a constant never") {
    const std::string end = "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%z:$)\n";
    CHECK(sunk("flow.load () -> (%e:$)\nlinalg.CPU.AddOp (%e, %e) -> (%r:$)\n" + end) ==
          "load load Add Mul Return");
    CHECK(sunk("flow.load () -> (%e:$)\nlinalg.CPU.AddOp (%e, %k:$[constant:[1.0, 2.0]]) -> "
               "(%r:$)\n" +
               end) == "load load Add Mul Return");
    CHECK(sunk("flow.load () -> (%e:$)\nflow.load () -> (%f:$)\n"
               "linalg.CPU.AddOp (%e, %f) -> (%r:$)\n" +
               end) == "load load Add load Mul Return");
  }

  TEST_CASE("an operand with more than 64 users keeps its op where it is") {
    const auto with_users = [](std::size_t count) {
      std::string ops = "flow.load () -> (%e:$)\nlinalg.CPU.ExpOp (%e) -> (%r:$)\n";
      for (std::size_t i = 1; i < count; ++i) {
        ops += fmt::format("flow.store (%e) -> ()\n");
      }
      return sunk(ops + "linalg.CPU.NegOp (%r) -> (%z:$)\n");
    };
    CHECK(with_users(64).ends_with("store Exp Neg Return"));
    CHECK(with_users(65).starts_with("load Exp store"));
  }

  TEST_CASE("ops with effects, with regions or without users stay") {
    const std::string end = "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%z:$)\n";
    CHECK(sunk("linalg.CPU.NegOp (%x) -> (%d:$)\n" + end.substr(0, end.find('\n') + 1) +
               "linalg.CPU.ExpOp (%n) -> (%z:$)\n") == "Neg load Exp Return");
    CHECK(sunk("flow.scope (%x) -> (%r:$) { (%i:$) -> (%o:$) { flow.yield (%i) -> () } }\n" +
               end) == "scope [yield] load Mul Return");
    CHECK(sunk("flow.load () -> (%r:$)\n" + end) == "load load Mul Return");
  }

  TEST_CASE("an op moves before the first of its users") {
    CHECK(sunk("linalg.CPU.IotaOp [shape:[2], dtype:Float32, dim:0] () -> (%r:$)\n"
               "flow.load () -> (%n:$)\nlinalg.CPU.MulOp (%n, %r) -> (%y:$)\n"
               "flow.load () -> (%m:$)\nlinalg.CPU.MulOp (%m, %r) -> (%z:$)\n",
               "%y:$, %z:$") == "load Iota Mul load Mul Return");
  }

  TEST_CASE("an op that both regions of a condition use moves before the condition alone") {
    const std::string condition =
        "flow.if () -> (%z:$) {\n"
        "() -> (%a:$) { linalg.CPU.NegOp (%r) -> (%a:$)\n flow.yield (%a) -> () }\n"
        "() -> (%b:$) { linalg.CPU.AbsOp (%r) -> (%b:$)\n flow.yield (%b) -> () }\n}\n";
    CHECK(sunk("linalg.CPU.ExpOp (%c) -> (%r:$)\nflow.load () -> (%n:$)\n" + condition,
               "%z:$, %n:$") == "load Exp if [Neg yield] [Abs yield] Return");
    // The second region alone.
    CHECK(sunk("linalg.CPU.ExpOp (%c) -> (%r:$)\nflow.if () -> (%z:$) {\n"
               "() -> (%a:$) { flow.yield (%x) -> () }\n"
               "() -> (%b:$) { flow.load () -> (%m:$)\n linalg.CPU.AddOp (%m, %r) -> (%b:$)\n"
               " flow.yield (%b) -> () }\n}\n") == "if [yield] [load Exp Add yield] Return");
    // A user outside of the condition keeps it there.
    CHECK(sunk("linalg.CPU.ExpOp (%c) -> (%r:$)\nflow.if () -> (%z:$) {\n"
               "() -> (%a:$) { flow.yield (%r) -> () }\n"
               "() -> (%b:$) { flow.yield (%x) -> () }\n}\n",
               "%z:$, %r:$") == "Exp if [yield] [yield] Return");
  }

  TEST_CASE("an op moves to the only block that uses it, unless blocks repeat") {
    const auto blocks = [](const std::string& ops) {
      FlowReading reading(
          "@main [mir_version:2] (%x:$) -> () {\nflow.graph @f {\n"
          "(%a:$, %k:tensor<[1], Bool, CPU>) -> (%b:$) {\n" +
          ops + "} }\ncf.ReturnOp () -> ()\n}\n");
      return sunk(reading);
    };
    const std::string exits =
        "^left:\n  linalg.CPU.NegOp (%r) -> (%b:$)\n  cf.ReturnOp (%b) -> ()\n"
        "^right:\n  cf.ReturnOp (%a) -> ()\n";
    CHECK(blocks("linalg.CPU.ExpOp (%a) -> (%r:$)\n"
                 "cf.CondBranchOp (%k) -> () [^left, ^right]\n" +
                 exits) == "graph [CondBranch | Exp Neg Return | Return] Return");
    CHECK(blocks("linalg.CPU.ExpOp (%a) -> (%r:$)\n"
                 "cf.CondBranchOp (%k) -> () [^left, ^right]\n"
                 "^left:\n  linalg.CPU.NegOp (%r) -> (%b:$)\n  cf.ReturnOp (%b) -> ()\n"
                 "^right:\n  cf.ReturnOp (%r) -> ()\n") ==
          "graph [Exp CondBranch | Neg Return | Return] Return");
    CHECK(
        blocks("linalg.CPU.ExpOp (%a) -> (%r:$)\ncf.BranchOp () -> () [^loop]\n"
               "^loop:\n  flow.store (%r) -> ()\n"
               "  cf.CondBranchOp (%k) -> () [^loop, ^exit]\n^exit:\n  cf.ReturnOp (%a) -> ()\n") ==
        "graph [Exp Branch | store CondBranch | Return] Return");
  }
}

TEST_SUITE("maxima of extents") {
  TEST_CASE("an extent that another one covers for all symbols from 0 is left out") {
    IRContext context;
    DimTable& table = context.dims();
    const Dim s = table.symbol("S"), t = table.symbol("T");
    const auto maximum = [&](std::initializer_list<Dim> extents) {
      Maximum all;
      for (const Dim each : extents) all.add(table, each);
      return all.print(table);
    };
    CHECK(maximum({Dim(3), Dim(4)}) == "4");
    CHECK(maximum({Dim(4), Dim(3)}) == "4");
    CHECK(maximum({s, table.add(s, t)}) == "$S+$T");
    CHECK(maximum({table.add(s, t), s}) == "$S+$T");
    CHECK(maximum({table.add(s, Dim(1)), s}) == "$S+1");
    CHECK(maximum({s, t}) == "max($S, $T)");
    CHECK(maximum({s, table.subtract(table.multiply(Dim(2), s), Dim(1))}) == "max($S, 2*$S-1)");
    CHECK(maximum({s, table.subtract(table.multiply(Dim(2), s), t)}) == "max($S, 2*$S-$T)");
    CHECK(maximum({s, table.add(s, table.floor_divide(t, Dim(2)))}) == "$S+$T/2");
    CHECK(maximum({s, t, Dim::unknown()}) == table.print(Dim::unknown()));
    CHECK(maximum({Dim::unknown(), s}) == table.print(Dim::unknown()));
  }

  TEST_CASE("more than eight extents are unknown") {
    IRContext context;
    DimTable& table = context.dims();
    Maximum all;
    for (char name = 'A'; name <= 'H'; ++name) all.add(table, table.symbol(std::string(1, name)));
    CHECK(all.extents().size() == 8);
    CHECK_FALSE(all.single());
    CHECK(all.plus(table, Dim(2)).print(table) ==
          "max($A+2, $B+2, $C+2, $D+2, $E+2, $F+2, $G+2, $H+2)");
    Maximum others(Dim(7));
    others.add(table, all);
    CHECK(others.is_unknown());
    all.add(table, table.symbol("I"));
    CHECK(all.is_unknown());
    CHECK(all == Dim::unknown());
  }
}

TEST_SUITE("roles of inputs and outputs") {
  /// The roles of %x, of this type, and of the first output.
  std::pair<std::string, std::string> roles(const std::string& type, const std::string& ops,
                                            const std::string& output) {
    Reading reading(fmt::format(
        "@main [mir_version:1] (%x:{}, %q:tensor<[2, 3, 3], Float32, CPU>) -> (%z:{}) {{\n"
        "graph.SubGraphOp @init <notype> {{\n() -> () {{\n"
        "tensor.CPU.register () -> (%w:tensor<[9, 4], Float32, CPU>[@embed.weight])"
        "[symbol:embed.weight]\n"
        "tensor.CPU.register () -> (%h:tensor<[3, 3], Float32, CPU>[@a.head.weight])"
        "[symbol:a.head.weight]\n"
        "tensor.CPU.register () -> (%i:tensor<[3, 3], Float32, CPU>[@head.up.weight])"
        "[symbol:head.up.weight]\n"
        "}}\n}}\n{}cf.ReturnOp (%z) -> ()\n}}\n",
        type, output, ops));
    const Block& body = reading.module().body().only_block();
    return {std::string(role_of_input(body.arguments()[0])),
            std::string(role_of_output(*body.back()->operand(0)))};
  }

  const std::string kScores = "tensor<[2, 3, 3], Float32, CPU>";

  std::string role(const std::string& ops) {
    return roles(kScores, ops, kScores).first;
  }

  /// Copies of %x, the last of which is %y.
  std::string moves(std::size_t count, const std::string& type) {
    std::string ops, from = "%x";
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string to = i == count ? "%y" : fmt::format("%m{}", i);
      ops += fmt::format("linalg.CPU.ContiguousOp ({}) -> ({}:{})\n", from, to, type);
      from = to;
    }
    return ops;
  }

  TEST_CASE("an input is named through at most eight ops that only move its elements") {
    const std::string ids = "tensor<[2, 3], Int64, CPU>";
    const std::string rows = "tensor<[2, 3, 4], Float32, CPU>";
    const std::string embed =
        "linalg.CPU.EmbeddingOp <name=\"embed\"> [vocab_size:9, hidden_size:4] (%y) -> (%z:" +
        rows + ")\n";
    CHECK(roles(ids, moves(1, ids) + embed, rows).first == "ids");
    CHECK(roles(ids, moves(8, ids) + embed, rows).first == "ids");
    CHECK(roles(ids, moves(9, ids) + embed, rows).first.empty());
    CHECK(roles(ids, "linalg.CPU.NegOp (%x) -> (%y:" + ids + ")\n" + embed, rows).first.empty());
  }

  TEST_CASE("a mask is added to scores that a softmax alone reads") {
    CHECK(role("linalg.CPU.AddOp (%q, %x) -> (%s:" + kScores +
               ")\nlinalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%z:" + kScores + ")\n") == "mask");
    CHECK(role("linalg.CPU.AddOp (%q, %x) -> (%s:" + kScores + ")\nlinalg.CPU.NegOp (%s) -> (%n:" +
               kScores + ")\nlinalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%t:" + kScores +
               ")\nlinalg.CPU.AddOp (%n, %t) -> (%z:" + kScores + ")\n")
              .empty());
    CHECK(role("linalg.CPU.AddOp (%q, %x) -> (%s:" + kScores +
               ")\nlinalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%t:" + kScores +
               ")\nlinalg.CPU.AddOp (%s, %t) -> (%z:" + kScores + ")\n")
              .empty());
    CHECK(role("linalg.CPU.AddOp (%q, %x) -> (%s:" + kScores +
               ")\nlinalg.CPU.NegOp (%s) -> (%z:" + kScores + ")\n")
              .empty());
    CHECK(role("linalg.CPU.SubOp (%q, %x) -> (%s:" + kScores +
               ")\nlinalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%z:" + kScores + ")\n")
              .empty());
  }

  TEST_CASE("keys are transposed by a product, values follow a softmax") {
    const auto product = [&](const std::string& transposed, const std::string& operands) {
      return "linalg.CPU.MatMulOp [transpose_b:" + transposed + "] (" + operands +
             ") -> (%z:" + kScores + ")\n";
    };
    const std::string softmax = "linalg.CPU.SoftmaxOp [axis:-1] (%q) -> (%s:" + kScores + ")\n";
    CHECK(role(product("true", "%q, %x")) == "keys");
    CHECK(role(product("false", "%q, %x")).empty());
    CHECK(role(product("true", "%x, %q")).empty());
    CHECK(role(softmax + product("false", "%s, %x")) == "values");
    CHECK(role(softmax + product("true", "%s, %x")) == "values");
  }

  TEST_CASE("logits are the result of a head, through at most eight ops that move elements") {
    const auto output = [&](const std::string& name, std::size_t count) {
      const std::string from = count == 0 ? "%z" : "%x0";
      std::string ops = fmt::format(
          "linalg.CPU.LinearOp <name=\"{}\"> [in_channels:3, out_channels:3, bias:false] (%q) -> "
          "({}:{})\n",
          name, from, kScores);
      for (std::size_t i = 1; i <= count; ++i) {
        ops += fmt::format("linalg.CPU.ContiguousOp (%x{}) -> ({}:{})\n", i - 1,
                           i == count ? "%z" : fmt::format("%x{}", i), kScores);
      }
      return roles(kScores, ops, kScores).second;
    };
    CHECK(output("a.head", 0) == "logits");
    CHECK(output("head.up", 0).empty());
    CHECK(output("a.head", 8) == "logits");
    CHECK(output("a.head", 9).empty());
  }
}

}  // namespace sink_test
