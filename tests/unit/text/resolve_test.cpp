#include "../ir/read.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"

using namespace mir;
using mir::test::errors;
using mir::test::find_op;
using mir::test::ops_of;
using mir::test::Reading;

namespace {

using Lines = std::vector<std::string>;

/// A dump whose only graph has these ops, from line 4 on; %0 is its argument.
std::string dump(const Lines& ops) {
  std::string text =
      "@main () -> () {\n"
      "graph.SubGraphOp @g <CPU> {\n"
      "(%0:tensor<[2], Float32, CPU>) -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "}\n}\n}\n";
}

/// A portable module with these ops, from line 2 on; %0 is its input.
std::string portable(const Lines& ops) {
  std::string text = "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "}\n";
}

Region& graph_body(Reading& reading) {
  return *reading.module().body().entry()->front()->region();
}

}  // namespace

TEST_SUITE("resolve") {
  // -- dumps ------------------------------------------------------------------------------------

  TEST_CASE(
      "in a dump each result starts a new version of its storage id, and a use takes the latest") {
    Reading reading(
        dump({"a.one (%0) -> (%1:tensor<[2], F, D>)", "a.two (%1) -> (%1:tensor<[3], F, D>)",
              "a.three (%1) -> (%0:tensor<[4], F, D>)", "a.four (%0, %1) -> ()"}));
    const auto ops = ops_of(graph_body(reading));
    CHECK(ops[0]->operand(0) == &graph_body(reading).only_block().arguments()[0]);
    CHECK(ops[1]->operand(0) == ops[0]->result());
    CHECK(ops[2]->operand(0) == ops[1]->result());
    CHECK(ops[3]->operand(0) == ops[2]->result());
    CHECK(ops[3]->operand(1) == ops[1]->result());
  }

  TEST_CASE("an op that redefines its own operand uses the version before it") {
    Reading reading(dump({"a.add (%0, %0) -> (%0:tensor<[2], F, D>)"}));
    const Op* op = graph_body(reading).entry()->front();
    CHECK(op->operand(0)->is_argument());
    CHECK(op->operand(1)->is_argument());
    CHECK(op->result()->name() == ValueName::number(0));
  }

  TEST_CASE("what nothing defined before becomes a free value of the region that uses it") {
    Reading reading(dump({"a.one (%7:tensor<[1], F, D>[constant:[0.5]], %8) -> ()",
                          "a.two (%8, %7) -> (%7:tensor<[1], F, D>)", "a.three (%7) -> ()"}));
    Region& body = graph_body(reading);
    const auto ops = ops_of(body);
    REQUIRE(body.free_values().size() == 2);
    Value* seven = body.free_values()[0];
    CHECK(seven->free_in() == &body);
    CHECK(seven->name() == ValueName::number(7));
    CHECK(seven->attribute(reading.context.intern("constant"))->spelling() == "[0.5]");
    CHECK(ops[0]->operand(0) == seven);
    CHECK(ops[1]->operand(1) == seven);
    CHECK(ops[1]->operand(0) == body.free_values()[1]);
    CHECK(body.free_values()[1]->type() == nullptr);
    CHECK(ops[2]->operand(0) == ops[1]->result());
    CHECK(reading.module().body().free_values().empty());
  }

  TEST_CASE("a region sees the names around it, and its own end with it") {
    Reading reading(dump({"a.one () -> (%1:tensor<[1], F, D>)", "a.if (%1) -> () {",
                          "a.two (%1) -> (%1:tensor<[2], F, D>)", "a.three (%1, %0) -> ()", "}",
                          "a.four (%1) -> ()"}));
    Region& body = graph_body(reading);
    const auto outer = ops_of(body);
    const auto inner = ops_of(*outer[1]->region());
    CHECK(inner[0]->operand(0) == outer[0]->result());
    CHECK(inner[1]->operand(0) == inner[0]->result());
    CHECK(inner[1]->operand(1) == &body.entry_arguments()[0]);
    CHECK(outer[2]->operand(0) == outer[0]->result());
    CHECK(outer[1]->region()->free_values().empty());
  }

  TEST_CASE("a region belongs to the op in whose braces it is") {
    Reading reading(
        dump({"a.outer (%0) -> () { () -> () { a.inner () -> () { () -> () { a.leaf () -> () { } } "
              "() -> () { } } a.next () -> () { () -> () { } } } () -> () { } () -> () { } }",
              "a.last () -> () { () -> () { } }"}));
    const auto ops = ops_of(graph_body(reading));
    REQUIRE(ops.size() == 2);
    CHECK(ops[0]->region_count() == 3);
    CHECK(ops[1]->region_count() == 1);
    const auto inside = ops_of(*ops[0]->region());
    REQUIRE(inside.size() == 2);
    CHECK(inside[0]->region_count() == 2);
    CHECK(inside[1]->region_count() == 1);
    CHECK(ops_of(*inside[0]->region()).size() == 1);
  }

  TEST_CASE("graphs and fragments are isolated from the names around them") {
    Reading reading(
        "@main () -> () {\n"
        "    a.one () -> (%1:tensor<[1], F, D>)\n"
        "    graph.SubGraphOp @g <CPU> {\n"
        "        () -> () {\n"
        "            a.two (%1:tensor<[2], F, D>) -> ()\n"
        "        }\n"
        "    }\n"
        "    prog.fragment @code <CPU> <code> {\n"
        "        a.three (%1:tensor<[3], F, D>) -> ()\n"
        "    }\n"
        "    a.four (%1) -> ()\n"
        "}\n");
    const auto ops = ops_of(reading.module().body());
    CHECK(ops[1]->region()->entry()->front()->operand(0)->is_free());
    CHECK(ops[2]->region()->entry()->front()->operand(0)->is_free());
    CHECK(ops[3]->operand(0) == ops[0]->result());
  }

  TEST_CASE("block arguments and successor operands are values like others") {
    Reading reading(
        dump({"a.loop () -> () {", "a.branch (%0) -> () [^next(%0, %9:tensor<[1], F, D>), ^end]",
              "^next(%1:tensor<[2], F, D>, %2:tensor<[1], F, D>):", "a.use (%2, %1) -> ()",
              "^end:", "}"}));
    const Region& loop = *graph_body(reading).entry()->front()->region();
    const Op* branch = loop.entry()->front();
    REQUIRE(branch->operand_count() == 3);
    CHECK(branch->operand(1)->is_argument());
    CHECK(branch->operand(2) == loop.free_values()[0]);
    const auto successors = branch->extra().successors;
    REQUIRE(successors.size() == 2);
    CHECK(reading.context.text(successors[0].block->name()) == "next");
    CHECK(successors[0].first_operand == 1);
    CHECK(successors[0].operand_count == 2);
    CHECK(successors[1].operand_count == 0);
    Block* next = loop.entry()->next();
    CHECK(next->front()->operand(0) == &next->arguments()[1]);
    CHECK(next->front()->operand(1) == &next->arguments()[0]);
    CHECK(next->next()->empty());
    CHECK(next->next()->next() == nullptr);
  }

  TEST_CASE("a mention that states another type or attributes than its value keeps them") {
    Reading reading(dump({"a.one (%0:tensor<[9], F, D>) -> (%1:tensor<[2], F, D>[k:1])",
                          "a.two (%1) -> ()", "a.three (%1:tensor<[2], F, D>[k:1]) -> ()"}));
    const auto ops = ops_of(graph_body(reading));
    const StatedMention* type = stated_mention(ops[0]->operand_uses()[0]);
    REQUIRE(type != nullptr);
    CHECK(type->type->spelling() == "tensor<[9], F, D>");
    const StatedMention* attributes = stated_mention(ops[1]->operand_uses()[0]);
    REQUIRE(attributes != nullptr);
    CHECK(attributes->attributes.empty());
    CHECK(attributes->type == ops[0]->result()->type());
    CHECK(stated_mention(ops[2]->operand_uses()[0]) == nullptr);
  }

  TEST_CASE("symbols of graphs, labels and parameters are found in the module and in the context") {
    Reading reading(
        "@main () -> () {\n"
        "    graph.SubGraphOp @init <notype> {\n"
        "        () -> () {\n"
        "            tensor.CPU.register () -> (%0:tensor<[2], F, D>[@w])[symbol:w]\n"
        "        }\n"
        "    }\n"
        "    prog.fragment @code <CPU> <code> {\n"
        "        prog.label[symbol:m.__entry]\n"
        "        prog.jump m.__entry[offset:-1]\n"
        "    }\n"
        "    graph.CallGraphOp @absent () -> ()\n"
        "}\n");
    const Module& module = reading.module();
    CHECK(module.lookup_symbol("init").op == find_op(module.body(), "graph.SubGraphOp"));
    CHECK(module.lookup_symbol("code").op == find_op(module.body(), "prog.fragment"));
    CHECK(module.lookup_symbol("m.__entry").op == find_op(module.body(), "prog.label"));
    CHECK(module.lookup_symbol("w").value ==
          find_op(module.body(), "tensor.CPU.register")->result());
    CHECK(reading.context.lookup_symbol("w").value == module.lookup_symbol("w").value);
    CHECK_FALSE(module.lookup_symbol("absent"));
    CHECK_FALSE(module.lookup_symbol("never seen"));
    const auto target = find_op(module.body(), "prog.jump")->dump_facts().label;
    REQUIRE(target.has_value());
    CHECK(reading.context.text(*target) == "m.__entry");
  }

  TEST_CASE("names keep their spelling, whatever it is") {
    Reading reading(
        dump({"a.one (%hidden.0:tensor<[1], F, D>, %007, %a b:tensor<[1], F, D>, %) -> ()"}));
    const Op* op = graph_body(reading).entry()->front();
    const auto name = [&](std::size_t i) {
      const ValueName of = op->operand(i)->name();
      return of.is_number() ? "number" : std::string(reading.context.text(of.symbol()));
    };
    CHECK(name(0) == "hidden.0");
    CHECK(name(1) == "007");
    CHECK(name(2) == "a b");
    CHECK(name(3) == "");
  }

  TEST_CASE("each module of a file has names and symbols of its own") {
    Reading reading(
        "@a () -> () { x.y () -> (%0:tensor<[1], F, D>) graph.SubGraphOp @s <CPU> { } }\n"
        "@b [mir_version:1] () -> () { x.y (%0:tensor<[1], F, D>[constant:[1]]) -> () }\n"
        "@c () -> () { x.y (%0:tensor<[1], F, D>) -> () graph.SubGraphOp @s <CPU> { } }\n");
    reading.module();
    REQUIRE(reading.modules.size() == 3);
    CHECK(reading.modules[1]->is_portable());
    CHECK_FALSE(reading.modules[2]->is_portable());
    CHECK(reading.modules[2]->body().free_values().size() == 1);
    CHECK(reading.modules[0]->lookup_symbol("s").op != reading.modules[2]->lookup_symbol("s").op);
    CHECK(reading.context.lookup_symbol("s").op == reading.modules[0]->lookup_symbol("s").op);
  }

  // -- portable modules ---------------------------------------------------------------------------

  TEST_CASE("a portable module may use a value above its definition") {
    Reading reading(
        portable({"a.one (%1:tensor<[2], F, D>, %1) -> ()", "a.two () -> (%1:tensor<[2], F, D>)"}));
    const auto ops = ops_of(reading.module().body());
    CHECK(ops[0]->operand(0) == ops[1]->result());
    CHECK(ops[0]->operand(1) == ops[1]->result());
    CHECK(ops[1]->result()->use_count() == 2);
    CHECK(reading.module().body().free_values().empty());
  }

  TEST_CASE("a value that nothing defines must be a constant or a parameter") {
    CHECK(errors(portable({"a.one (%5:tensor<[1], F, D>) -> ()"})) ==
          Lines{"2:8 MIR0302 value '%5' is used and nothing defines it"});
    CHECK(errors(portable({"a.one (%x:tensor<[1], F, D>) -> ()"})) ==
          Lines{"2:8 MIR0302 value '%x' is used and nothing defines it"});
    CHECK(errors(portable(
              {"a.one (%5:tensor<[1], F, D>[constant:[1]], %6:tensor<[1], F, D>[@w]) -> ()"})) ==
          Lines{});
    CHECK(errors(portable({"a.one (%5[constant:[1]]) -> ()"})) ==
          Lines{"2:8 MIR0302 value '%5' is used and nothing defines it"});
    CHECK(errors(portable(
              {"graph.SubGraphOp @g <CPU> {", "() -> () {", "a.one (%0) -> ()", "}", "}"})) ==
          Lines{"4:8 MIR0302 value '%0' is used and nothing defines it"});
  }

  TEST_CASE("any mention of a constant may carry its type and elements") {
    Reading reading(
        portable({"a.one (%5) -> ()", "a.two (%5:tensor<[1], F, D>[constant:[1]]) -> ()"}));
    const Region& body = reading.module().body();
    REQUIRE(body.free_values().size() == 1);
    CHECK(body.free_values()[0]->use_count() == 2);
    CHECK(body.free_values()[0]->type()->spelling() == "tensor<[1], F, D>");
    CHECK(body.free_values()[0]->attribute(reading.context.intern("constant"))->spelling() ==
          "[1]");
  }

  TEST_CASE("a portable region defines a name once") {
    CHECK(errors(portable(
              {"a.one () -> (%1:tensor<[1], F, D>)", "a.two () -> (%1:tensor<[1], F, D>)"})) ==
          Lines{"3:14 MIR0303 value '%1' is defined twice in this region"});
    CHECK(errors(portable({"a.one () -> (%0:tensor<[1], F, D>)"})) ==
          Lines{"2:14 MIR0303 value '%0' is defined twice in this region"});
    CHECK(errors(portable({"a.one () -> (%1:tensor<[1], F, D>, %1 : tensor<[1], F, D>)"})) ==
          Lines{"2:36 MIR0303 value '%1' is defined twice in this region"});
    CHECK(errors(portable({"a.one (%5:tensor<[1], F, D>[constant:[1]]) -> ()",
                           "a.two () -> (%5:tensor<[1], F, D>)"})) ==
          Lines{"3:14 MIR0303 value '%5' is defined twice in this region"});
    // Another region is another scope.
    CHECK(errors(portable({"a.one () -> () {", "a.two () -> (%0:tensor<[1], F, D>)", "}"})) ==
          Lines{});
  }

  TEST_CASE("a mention repeats the type of its definition or leaves it out") {
    CHECK(errors(portable({"a.one (%0:tensor<[2], Float32, CPU>, %0) -> ()"})) == Lines{});
    CHECK(errors(portable({"a.one (%0:tensor<[3], Float32, CPU>) -> ()"})) ==
          Lines{"2:8 MIR0309 value is used as tensor<[3], Float32, CPU>, defined as tensor<[2], "
                "Float32, CPU>"});
    CHECK(errors(portable(
              {"a.one (%1:tensor<[3], F, D>) -> ()", "a.two () -> (%1:tensor<[2], F, D>)"})) ==
          Lines{"2:8 MIR0309 value is used as tensor<[3], F, D>, defined as tensor<[2], F, D>"});
  }

  TEST_CASE("a mention does not change the type of what states one") {
    const auto wrong = [](const std::string& line, const std::string& found,
                          const std::string& stated) {
      return Lines{line + " MIR0309 value is used as tensor<[" + found +
                   "], Float32, CPU>, defined as tensor<[" + stated + "], Float32, CPU>"};
    };
    const std::string head = "@main [mir_version:1] (%x:tensor<[?], Float32, CPU>) -> () {\n";
    CHECK(errors(head + "a.one (%x:tensor<[3], Float32, CPU>) -> ()\n}\n") ==
          wrong("2:8", "3", "?"));
    CHECK(errors(portable({"a.one () -> (%1:tensor<[?], Float32, CPU>)",
                           "a.two (%1:tensor<[3], Float32, CPU>) -> ()"})) ==
          wrong("3:8", "3", "?"));
    CHECK(errors(portable({"a.one (%5:tensor<[?], Float32, CPU>[constant:[1]]) -> ()",
                           "a.two (%5:tensor<[3], Float32, CPU>) -> ()"})) ==
          wrong("3:8", "3", "?"));
    // What a rule left open, the first mention states for all.
    const std::string open = head + "linalg.CPU.SiLUOp(%x) -> (%y)\n";
    CHECK(errors(open + "a.one (%y:tensor<[3], Float32, CPU>) -> ()\n"
                        "a.two (%y:tensor<[3], Float32, CPU>, %y) -> ()\n}\n") == Lines{});
    CHECK(errors(open + "a.one (%y:tensor<[3], Float32, CPU>) -> ()\n"
                        "a.two (%y:tensor<[4], Float32, CPU>) -> ()\n}\n") ==
          wrong("4:8", "4", "3"));
    CHECK(errors(open + "a.one (%y:tensor<[?], Float32, CPU>) -> ()\n"
                        "a.two (%y:tensor<[4], Float32, CPU>) -> ()\n}\n") ==
          wrong("4:8", "4", "?"));
    // A dump keeps both, and the definition has its own.
    Reading dumped("@main (%0:tensor<[?], F, D>) -> () {\na.one (%0:tensor<[3], F, D>) -> ()\n}\n");
    const Value& input = dumped.module().body().only_block().arguments()[0];
    CHECK(input.type()->spelling() == "tensor<[?], F, D>");
  }

  TEST_CASE(
      "the attributes of a value are written at its definition, and mentions agree with them") {
    CHECK(errors(portable({"a.one (%5:tensor<[1], F, D>[constant:[1]]) -> ()",
                           "a.two (%5:tensor<[1], F, D>[constant:[1]], %5) -> ()"})) == Lines{});
    CHECK(errors(portable({"a.one (%5:tensor<[1], F, D>[constant:[1]]) -> ()",
                           "a.two (%5:tensor<[1], F, D>[constant:[2]]) -> ()"})) ==
          Lines{"3:8 MIR0309 value is used with other attributes than it is defined with"});
    CHECK(errors(portable({"a.one (%0[constant:[1]]) -> ()"})) ==
          Lines{"2:8 MIR0309 value is used with other attributes than it is defined with"});
  }

  TEST_CASE("a missing result type is the one the op's rule infers") {
    Reading reading(portable({"linalg.CPU.SiLUOp(%0) -> (%1)", "linalg.CPU.AddOp(%0, %1) -> (%2)",
                              "linalg.CPU.ViewOp [to_shape:[1, 2]] (%2) -> (%3)"}));
    const auto ops = ops_of(reading.module().body());
    CHECK(ops[1]->result()->type()->spelling() == "tensor<[2], Float32, CPU>");
    CHECK(ops[2]->result()->type()->spelling() == "tensor<[1, 2], Float32, CPU>");
  }

  TEST_CASE("a missing result type of a call is the one that a graph above it states") {
    const std::string graph =
        "graph.SubGraphOp @f <CPU> { (%8:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, "
        "CPU>) {\ncf.ReturnOp (%8) -> ()\n} }\n";
    const std::string call = "graph.CallGraphOp @f (%0) -> (%1)\n";
    const std::string head = "@main (%0:tensor<[2], Float32, CPU>) -> () {\n";
    Reading reading(head + graph + call + "}\n");
    REQUIRE(reading.errors() == Lines{});
    const Op* op = reading.module().body().entry()->back();
    CHECK(op->result()->type()->spelling() == "tensor<[2], Float32, CPU>");
    CHECK(errors(head + call + graph + "}\n") ==
          Lines{"2:31 MIR0304 result needs a type: no rule infers it here"});
  }

  TEST_CASE(
      "a missing result type of a ParamOp is that of the parameter above it, with its shape") {
    const auto given = [](const std::string& parameter, const std::string& shape) {
      Reading reading(portable(
          {"tensor.CPU.register () -> (%9:" + parameter + "[@up.weight]) [symbol:up.weight]",
           "linalg.CPU.ParamOp [name:up.weight, shape:" + shape + "] () -> (%1)"}));
      REQUIRE(reading.errors() == Lines{});
      return std::string(reading.module().body().entry()->back()->result()->type()->spelling());
    };
    CHECK(given("tensor<[3, 4], BFloat16, CPU>", "[3, 4]") == "tensor<[3, 4], BFloat16, CPU>");
    CHECK(given("tensor<[3, 4], BFloat16, CPU>", "[]") == "tensor<[3, 4], BFloat16, CPU>");
    CHECK(given("tensor<[?, 4], Float32, CPU>", "[2, 4]") == "tensor<[2, 4], Float32, CPU>");
    CHECK(errors(portable({"linalg.CPU.ParamOp [name:up.weight, shape:[2]] () -> (%1)"})) ==
          Lines{"2:55 MIR0304 result needs a type: no rule infers it here"});
  }

  TEST_CASE("a missing result type of a launch is the one that its kernel's rule gives") {
    Reading reading(
        "@main (%0:tensor<[2, 3], Float32, CPU>) -> () {\n"
        "prog.kernel_launch(%0) -> (%1)[op_type:Transpose, op_options:{\"dim0\":0,\"dim1\":1}]\n"
        "}\n");
    REQUIRE(reading.errors() == Lines{});
    CHECK(reading.module().body().entry()->back()->result()->type()->spelling() ==
          "tensor<[3, 2], Float32, CPU>");
    CHECK(errors("@main (%0:tensor<[2, 3], Float32, CPU>) -> () {\n"
                 "prog.kernel_launch(%0) -> (%1)[op_type:Transpose, op_options:null]\n}\n") ==
          Lines{"2:28 MIR0304 result needs a type: no rule infers it here"});
  }

  TEST_CASE("a missing result type of an op with regions is the one that they pass") {
    const auto text_with = [](std::string_view second) {
      return "@main [mir_version:2] (%c:tensor<[1], Bool, CPU>, %x:tensor<[4], Float32, CPU>) -> "
             "() "
             "{\n"
             "cf.IfOp (%c) -> (%z) {\n"
             "() -> (%a) {\ncf.IfOp (%c) -> (%i) {\n"
             "() -> (%p) {\ngraph.CallGraphOp @f (%x) -> (%p)\ncf.YieldOp (%p) -> ()\n}\n"
             "() -> (%x) {\ncf.YieldOp (%x) -> ()\n}\n}\n"
             "linalg.CPU.NegOp(%i) -> (%a)\ncf.YieldOp (%a) -> ()\n}\n"
             "() -> (%b) {\n" +
             std::string(second) +
             " -> (%b)\ncf.YieldOp (%b) -> ()\n}\n}\n"
             "graph.SubGraphOp @f <CPU> { (%8:tensor<[4], Float32, CPU>) -> (%9:tensor<[4], "
             "Float32, CPU>) {\ncf.ReturnOp (%8) -> ()\n} }\n"
             "linalg.CPU.AddOp(%z, %z) -> (%y)\ncf.ReturnOp () -> ()\n}\n";
    };
    // What is in a region, here a call of a graph below, is known before what it passes.
    Reading reading(text_with("linalg.CPU.AbsOp(%x)"));
    REQUIRE(reading.errors() == Lines{});
    std::size_t typed = 0;
    for (const Op* op : reading.module().body().entry()->ops()) {
      for (const Value& result : op->results()) {
        REQUIRE(result.type() != nullptr);
        CHECK(result.type()->spelling() == "tensor<[4], Float32, CPU>");
        ++typed;
      }
    }
    CHECK(typed == 2);
    CHECK(errors(text_with("linalg.CPU.SliceOp [indices:[{\"end\":2}]] (%x)")) ==
          Lines{"2:1 MIR0304 result 0 of 'cf.IfOp' needs a type: tensor<[4], Float32, CPU> and "
                "tensor<[2], Float32, CPU> are passed to it"});
    // A loop that runs no iteration passes what it was given.
    Reading loop(
        "@main [mir_version:2] (%n:tensor<[1], Int32, CPU>, %x:tensor<[4], Float32, CPU>) -> () {\n"
        "cf.ForOp (%n, %n, %n, %x) -> (%y) {\n"
        "(%i:tensor<[1], Int32, CPU>, %s:tensor<[4], Float32, CPU>) -> (%s) {\n"
        "cf.YieldOp (%s) -> ()\n}\n}\ncf.ReturnOp () -> ()\n}\n");
    REQUIRE(loop.errors() == Lines{});
    CHECK(loop.module().body().entry()->front()->result()->type()->spelling() ==
          "tensor<[4], Float32, CPU>");
    CHECK(errors("@main [mir_version:2] (%c:tensor<[1], Bool, CPU>) -> () {\n"
                 "cf.IfOp (%c) -> (%z) {\n() -> () {\ncf.YieldOp () -> ()\n}\n"
                 "() -> () {\ncf.YieldOp () -> ()\n}\n}\ncf.ReturnOp () -> ()\n}\n") ==
          Lines{"2:18 MIR0304 result needs a type: no rule infers it here"});
  }

  TEST_CASE("results after a value without a type are not missed again") {
    CHECK(errors(portable({"linalg.CPU.NegOp (%u) -> (%1)", "linalg.CPU.NegOp (%1) -> (%2)",
                           "linalg.CPU.AddOp (%2, %0) -> (%3)"})) ==
          Lines{"2:19 MIR0302 value '%u' is used and nothing defines it"});
    CHECK(errors(portable({"a.one (%0) -> (%1)", "linalg.CPU.NegOp (%1) -> (%2)"})) ==
          Lines{"2:16 MIR0304 result needs a type: no rule infers it here"});
  }

  TEST_CASE("a result type that no rule infers is missed at the result") {
    CHECK(errors(portable({"a.one (%0) -> (%1)"})) ==
          Lines{"2:16 MIR0304 result needs a type: no rule infers it here"});
    CHECK(errors(portable({"graph.CallGraphOp @f (%0) -> (%1)"})) ==
          Lines{"2:31 MIR0304 result needs a type: no rule infers it here"});
    CHECK(errors(portable({"linalg.CPU.ViewOp(%0) -> (%1)"})) ==
          Lines{"2:27 MIR0304 result needs a type: no rule infers it here"});
    CHECK(errors(portable({"linalg.CPU.AddOp(%0) -> (%1)"})) ==
          Lines{"2:26 MIR0304 result needs a type: no rule infers it here"});
    CHECK(
        errors(
            portable(
                {"linalg.CPU.AddOp(%0, %4:tensor<[3], Float32, CPU>[constant:[1, 2, 3]]) -> (%1)"}))
            .size() == 1);
    CHECK(errors("@main (%0) -> () { }\n") == Lines{"1:8 MIR0304 an argument needs a type"});
  }

  TEST_CASE("an operand that is no tensor is named when a rule needs one") {
    CHECK(errors(portable({"a.one () -> (%1:!tt.buffer<4>)", "linalg.CPU.SiLUOp(%1) -> (%2)"})) ==
          Lines{"3:1 MIR0311 operand 0 of 'SiLUOp' has type !tt.buffer<4>, expected a tensor"});
  }

  TEST_CASE("unquoted text that is not a word needs quotes in a portable module") {
    CHECK(errors(portable({"a.one [k:two words] () -> ()"})) ==
          Lines{"2:10 MIR0308 'two words' must be in quotes in a portable module"});
    CHECK(errors(portable({"a.one [k:] () -> ()"})) ==
          Lines{"2:10 MIR0308 '' must be in quotes in a portable module"});
    CHECK(errors(portable({"a.one [k:3x] () -> ()"})).size() == 1);
    CHECK(errors("@main [origin:see docs: page, mir_version:1] () -> () { }\n") ==
          Lines{"1:15 MIR0308 'see docs: page' must be in quotes in a portable module"});
    CHECK(errors("@main [origin:see docs: page] () -> () { }\n@g [mir_version:1] () -> () { }\n") ==
          Lines{});
    CHECK(errors(portable({"a.one [k:model.layers.0/w-1, l:\"two words\", m:\"\"] () -> ()"})) ==
          Lines{});
    CHECK(errors(dump({"a.one [k:two words, l:, m:3x] () -> ()"})) == Lines{});
    // The head of a module is part of it, the head of the next is not.
    const std::string portable_head =
        "@a [mir_version:1] (%x:tensor<[1], Float32, CPU>[k:3x]) -> () { cf.ReturnOp () -> () }\n";
    const std::string dump_head = "@b (%x:tensor<[1], Float32, CPU>[k:3x]) -> () { }\n";
    CHECK(errors(portable_head).size() == 1);
    CHECK(errors(dump_head) == Lines{});
    CHECK(errors(portable_head + dump_head).size() == 1);
    CHECK(errors("@a [mir_version:1] () -> () { }\n" + dump_head) == Lines{});
  }

  TEST_CASE("a value that upstream could not print has no place in a portable module") {
    CHECK(errors(portable({"a.one [k:<InvalidAttribute NYI>] () -> ()"})) ==
          Lines{"2:10 MIR0306 value '<InvalidAttribute NYI>' cannot be read"});
    CHECK(errors(dump({"a.one [k:<InvalidAttribute NYI>] () -> ()"})) == Lines{});
  }

  TEST_CASE("a key is written once in a portable list, and in any dictionary") {
    CHECK(errors(portable({"a.one [k:1, l:2, k:3] () -> ()"})) ==
          Lines{"2:18 MIR0316 key 'k' occurs twice"});
    CHECK(errors(portable({"a.one [k:1] () -> ()[l:2, k:3]"})) ==
          Lines{"2:27 MIR0316 key 'k' occurs twice"});
    CHECK(errors(portable({"a.one (%5:tensor<[1], F, D>[constant:[1]][constant:[1]]) -> ()"})) ==
          Lines{"2:43 MIR0316 key 'constant' occurs twice"});
    CHECK(errors("@main [mir_version:1, k:1, k:2] () -> () { }\n") ==
          Lines{"1:28 MIR0316 key 'k' occurs twice"});
    CHECK(errors("@a [mir_version:1] () -> () { }\n@main [k:1, k:2] () -> () { }\n") == Lines{});
    CHECK(errors(dump({"a.one [k:1, k:2] (%5:tensor<[1], F, D>[c:[1]][c:[1]]) -> ()"})) == Lines{});
    CHECK(errors(dump({"a.one [k:{\"x\":1,\"y\":{},\"x\":2}] () -> ()"})) ==
          Lines{"4:24 MIR0316 key 'x' occurs twice"});
  }

  TEST_CASE("another version than 1 is refused") {
    CHECK(errors("@main [mir_version:3] () -> () { }\n") ==
          Lines{"1:1 MIR0307 mir_version 3 is not supported, this toolkit reads versions 1 and 2"});
    // What a later version may mean by it is not reported on top.
    CHECK(errors("@main [mir_version:3] () -> () { x.y (%a, %a:tensor<[1], F, D>) -> () }\n") ==
          Lines{"1:1 MIR0307 mir_version 3 is not supported, this toolkit reads versions 1 and 2"});
    CHECK(errors("@main [mir_version:1.0] () -> () { }\n").size() == 1);
    CHECK(
        errors("@main [mir_version:01] () -> () { }\n") ==
        Lines{"1:1 MIR0307 mir_version 01 is not supported, this toolkit reads versions 1 and 2"});
    CHECK(errors("@main [mir_version:one] () -> () { }\n").size() == 1);
    CHECK(errors("@main [mir_version:1] () -> () { }\n") == Lines{});
  }

  TEST_CASE("an alias means its value") {
    Reading reading(
        "#scale = [1, {\"k\":2}]\n"
        "#again = #scale\n"
        "@main () -> () { a.b [k:#scale, l:#tt.opaque<1>] (%0:tensor<[1], F, D, #scale>) -> () "
        "}\n");
    const Op* op = reading.module().body().entry()->front();
    CHECK(op->attribute("k")->kind() == AttrKind::kArray);
    CHECK(op->attribute("k")->spelling() == "[1, {\"k\":2}]");
    CHECK(op->attribute("l")->kind() == AttrKind::kDialect);
    CHECK(op->operand(0)->tensor_type()->encoding() == op->attribute("k"));
    CHECK(errors("@main () -> () { a.b [k:#late] () -> () }\n#late = 1\n").front() ==
          "1:25 MIR0305 alias '#late' is not defined before its use");
  }

  TEST_CASE("values that cannot be read are refused") {
    CHECK(errors(portable({"a.one [k:\"\\q\"] () -> ()"})) ==
          Lines{"2:10 MIR0306 value '\"\\q\"' cannot be read"});
    CHECK(errors(dump({"a.one [k:\"\\ud800\"] () -> ()"})).size() == 1);
    CHECK(errors(dump({"addr:0x10000000000000000 a.one () -> ()"})) ==
          Lines{"4:1 MIR0306 address 'addr:0x10000000000000000' does not fit 64 bits"});
    CHECK(errors(dump({"addr:0xffffffffffffffff a.one () -> ()"})) == Lines{});
  }

  TEST_CASE("quoted names mean their text") {
    Reading reading(
        "@\"the main\" [mir_version:1] () -> () {\n"
        "    my.Op @\"a \\\"b\\\"\" <name=\"x \\\"y\\\"\"> [\"a key\":1] () -> () {}\n"
        "    graph.CallGraphOp @plain () -> ()\n"
        "}\n");
    const Module& module = reading.module();
    const Op* op = module.body().entry()->front();
    CHECK(reading.context.text(module.name()) == "the main");
    CHECK(reading.context.text(op->symbol()) == "a \"b\"");
    CHECK(reading.context.text(op->path()) == "x \"y\"");
    CHECK(op->attribute("a key")->integer() == 1);
  }

  TEST_CASE("units can be resolved one by one and released") {
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("t", dump({"a.one (%0) -> ()"}));
    Diagnostics diagnostics;
    Resolver resolver(context, *file, diagnostics);
    CHECK(parse_units(*file, diagnostics, [&](Unit&& unit) {
      const Unit released = std::move(unit);
      resolver.add(released);
      return true;
    }));
    const auto modules = resolver.finish();
    REQUIRE(modules.size() == 1);
    CHECK(context.modules().size() == 1);
    CHECK(ops_of(modules[0]->body()).size() == 1);
    // The tree as a whole gives the same.
    const auto tree = parse(*file, diagnostics);
    REQUIRE(tree.has_value());
    CHECK(print(*resolve(*tree, context, diagnostics).front()) == print(*modules[0]));
  }

  TEST_CASE("attributes refer to a text of their context, and copy others") {
    const std::string text =
        dump({"a.one [q:QuantAnnotation(a:QuantSpec(Raw(type: Float32), uuid=1), ), "
              "r:QuantAnnotation( b:QuantSpec(Raw(type: Float32), uuid=2)), "
              "s:\"text\", t:[1, 2]] (%0) -> ()"});
    IRContext context, fresh;
    register_builtin_dialects(context);
    register_builtin_dialects(fresh);
    SourceManager others;
    /// For each attribute whether its spelling lies in the text.
    const auto places = [](IRContext& into, const SourceFile& file) {
      Diagnostics diagnostics;
      const auto tree = parse(file, diagnostics);
      REQUIRE(tree);
      const Module& module = *resolve(*tree, into, diagnostics).front();
      const Op& op = *ops_of(*module.body().entry()->front()->region()).front();
      std::string answer;
      for (const char* key : {"q", "r", "s", "t"}) {
        const char* const spelling = op.attribute(key)->spelling().data();
        const bool is_inside =
            file.text().data() <= spelling && spelling < file.text().data() + file.text().size();
        answer += is_inside ? 'y' : 'n';
      }
      return answer;
    };
    // Text with other blanks than the canonical ones is copied, and arrays are.
    CHECK(places(context, *context.sources().add("own", text)) == "ynyn");
    const std::size_t before = context.memory();
    CHECK(places(context, *context.sources().add("again", text)) == "nnnn");
    CHECK(context.memory() == before);
    CHECK(places(fresh, *others.add("other", text)) == "nnnn");
  }

  TEST_CASE("ops remember their place and that nothing changed them") {
    Reading reading(dump({"a.one (%0) -> ()", "  a.two () -> ()"}));
    const auto ops = ops_of(graph_body(reading));
    const SourceFile* file = reading.context.sources().file_of(ops[1]->location().raw);
    REQUIRE(file != nullptr);
    CHECK(file->line_column(ops[1]->location().raw).line == 5);
    CHECK(file->line_column(ops[1]->location().raw).column == 3);
    CHECK_FALSE(ops[0]->is_modified());
  }
}
