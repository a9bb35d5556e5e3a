#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "mir/rewriter.hpp"
#include "mir/upstream.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::Isomorphism;
using mir::test::ops_of;
using mir::test::Reading;

namespace {

/// `ops` in the canonical layout, as the body of a dump.
std::string module_text(std::initializer_list<std::string_view> ops) {
  std::string text = "@main () -> () {\n";
  for (const std::string_view op : ops) text.append("    ").append(op) += '\n';
  return text + "}\n";
}

/// The module again, from its print.
struct Reprint {
  explicit Reprint(const Module& module) : text(print(module)), reading(text) {
    CAPTURE(text);
    CHECK(Isomorphism(module, reading.module()).difference() == "");
  }
  Region& body() { return reading.module().body(); }

  std::string text;
  Reading reading;
};

constexpr std::string_view kType = "tensor<[2], Float32, CPU>";
std::string value(std::string_view name) {
  return std::string(name).append(":").append(kType);
}

}  // namespace

TEST_SUITE("raise") {
  TEST_CASE("canonical text prints as itself") {
    const std::string text =
        "@main () -> () {\n"
        "    graph.SubGraphOp @init <notype> {\n"
        "        () -> () {\n"
        "            tensor.CPU.register () -> (%0:tensor<[2], Float32, CPU>[@w])[symbol:w]\n"
        "        }\n"
        "    }\n"
        "    graph.CallGraphOp @f (%1:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, "
        "CPU>)\n"
        "    graph.SubGraphOp @f <CPU> [symbol:f] {\n"
        "        (%1:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n"
        "            linalg.CPU.LinearOp <name=\"f.up\"> [using_qnn:true] (%1:tensor<[2], Float32, "
        "CPU>) -> (%1:tensor<[2], Float32, CPU>)\n"
        "            linalg.CPU.MulOp(%1:tensor<[2], Float32, CPU>, %2:tensor<[1], Float32, "
        "CPU>[constant:[0.5]]) -> (%1:tensor<[2], Float32, CPU>)\n"
        "            linalg.DeviceTypes_Start.register<Linear>() -> ()[symbol:f.up]\n"
        "            cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()\n"
        "        }\n"
        "    }\n"
        "    prog.fragment @code <CPU> <code> {\n"
        "        addr:0x00000000000000 prog.mode_config[flag:2]\n"
        "        addr:0x00000000000001 prog.jump f.__entry[offset:2]\n"
        "        addr:0x00000000000002 prog.exit() -> ()\n"
        "        addr:0xffffffffffffffff prog.label[symbol:f.__entry]\n"
        "        addr:0x00000000000003 prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> "
        "(%2:tensor<[2], Float32, CPU>)[symbol_name:, op_type:SiLU, "
        "op_options:{\"a\":[1,2],\"b\":0.5}]\n"
        "        addr:0x00000000000004 prog.ret\n"
        "    }\n"
        "}\n";
    Reading reading(text);
    CHECK(print(reading.module()) == text);
  }

  TEST_CASE("every part of an op prints where its dialect has it") {
    for (const std::string_view op : {
             "a.b() -> ()",
             "a.b() -> ()[]",
             "a.b @ () -> ()",
             "a.b @s <CPU> <x -> y> <name=\"n.m\">() -> ()[k:1]",
             "a.b <name=\"\">() -> ()",
             "a.b() -> ()[k:-1, l:1.50, m:true, n:null, o:\"q\\\"\", p:bare text, q:@sym, "
             "r:$S+$past]",
             "a.b() -> ()[k:[1, [2.5, x], {\"y\":[1,2]}], l:#tt.o<(a) -> b>, m:!tt.t<1>, "
             "n:<InvalidAttribute NYI>]",
             "a.b() -> ()[q:QuantAnnotation(inputs_0:QuantSpec(Raw(type: Int8), uuid=4), , )]",
             "a.b() -> ()[q:QuantSpec(None(, uuid=5, solved=0)]",
             "linalg.CPU.AddOp [] () -> ()",
             "linalg.CPU.LinearOp [name=\"m.q\"]() -> ()",
             "linalg.CPU.X [k:1] () -> ()",
             "a.b() -> () loc(fused[\"a.py\":1, \"b\"])",
             "addr:0x00000000000026 a.b() -> ()",
             "addr:0x123456789abcdef a.b() -> ()",
             "addr:0xffffffffffffffff a.b() -> ()",
             "prog.jump model.layers.0.__entry[offset:-3]",
             "prog.ret",
         }) {
      const std::string text = module_text({op});
      CAPTURE(text);
      Reading reading(text);
      CHECK(print(reading.module()) == text);
    }
  }

  TEST_CASE("blocks, arguments, successors and locations after bodies print") {
    const std::string text =
        "@main () -> () {\n"
        "    a.loop(%0:tensor<[2], F, D>) -> (%1:tensor<[2], F, D>) {\n"
        "        a.go() -> () [^next(%0:tensor<[2], F, D>), ^end]\n"
        "    ^next(%2:tensor<[2], F, D>):\n"
        "        a.go(%2:tensor<[2], F, D>) -> () [^end]\n"
        "    ^end:\n"
        "    } loc(\"here\")\n"
        "    a.two() -> () {\n"
        "        a.x\n"
        "    } {\n"
        "        a.y\n"
        "    }\n"
        "}\n";
    Reading reading(text);
    CHECK(print(reading.module()) == text);
  }

  // -- names ------------------------------------------------------------------------------------

  TEST_CASE("a use moved below a new version of its storage id gets a name of its own") {
    Reading reading("@main () -> () {\na.one () -> (" + value("%1") + ")\na.two(%1) -> (" +
                    value("%1") + ")\na.three(%1) -> ()\n}\n");
    const auto ops = ops_of(reading.module().body());
    Module& module = reading.module();
    Rewriter(module).move_to_end(*ops[1],
                                 *module.body().entry());  // three now reads one's version ...
    Rewriter(module).set_operand(*ops[2], 0, ops[0]->result());
    Op* four = Rewriter(module).create_detached(
        {.name = reading.context.op_name("a.four"),
         .operands = std::vector{ops[0]->result(), ops[1]->result()}});
    Rewriter(module).insert(*four, *module.body().entry(),
                            nullptr);  // ... and four both, below the second definition
    Reprint again(reading.module());
    const auto read = ops_of(again.body());
    CHECK(read[3]->operand(0) == read[0]->result());
    CHECK(read[3]->operand(1) == read[2]->result());
    CHECK(again.text.find("(%2:") != again.text.npos);
  }

  TEST_CASE("what keeps its meaning keeps its name") {
    const std::string text = module_text({"a.one() -> (" + value("%1") + ")",
                                          "a.two(" + value("%1") + ") -> (" + value("%1") + ")",
                                          "a.three(" + value("%1") + ") -> ()"});
    Reading reading(text);
    CHECK(print(reading.module()) == text);
  }

  TEST_CASE("an erased definition uncovers nothing: uses still mean their own values") {
    Reading reading("@main () -> () {\na.one () -> (" + value("%1") + ")\na.two () -> (" +
                    value("%1") + ")\na.three(%1) -> ()\na.four () -> (" + value("%1") + ")\n}\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Rewriter(module).set_operand(*ops[2], 0, ops[0]->result());
    Rewriter(module).erase(*ops[1]);
    Reprint again(module);
    CHECK(ops_of(again.body())[1]->operand(0) == ops_of(again.body())[0]->result());
    CHECK(again.text != test::Part{"%2"});
  }

  TEST_CASE("a free value that a definition would capture gets a name of its own") {
    Reading reading("@main () -> () {\na.one(" + value("%1") + ") -> (" + value("%2") +
                    ")\na.two(%1) -> (" + value("%1") + ")\n}\n");
    Module& module = reading.module();
    Op* three =
        Rewriter(module).create_detached({.name = reading.context.op_name("a.three"),
                                          .operands = std::vector{module.body().free_values()[0]}});
    Rewriter(module).insert(*three, *module.body().entry(), nullptr);
    Reprint again(module);
    CHECK(ops_of(again.body())[2]->operand(0)->is_free());
    CHECK(again.body().free_values().size() == 1);
  }

  TEST_CASE("values without a name get unused numbers") {
    Reading reading(module_text({"a.one() -> (" + value("%7") + ")"}));
    Module& module = reading.module();
    const Type* type = ops_of(module.body())[0]->result()->type();
    Op* made = Rewriter(module).create_detached(
        {.name = reading.context.op_name("a.two"), .result_types = std::vector{type, type}});
    Rewriter(module).insert(*made, *module.body().entry(), nullptr);
    Op* user = Rewriter(module).create_detached(
        {.name = reading.context.op_name("a.three"), .operands = std::vector{made->result(1)}});
    Rewriter(module).insert(*user, *module.body().entry(), nullptr);
    const Reprint again(module);
    CHECK(again.text.find("a.two() -> (" + value("%8") + ", " + value("%9") + ")") !=
          again.text.npos);
    CHECK(again.text == test::Part{"a.three(" + value("%9") + ")"});
    CHECK(made->result()->name().is_none());
  }

  TEST_CASE("inner names that hide outer ones are told apart") {
    Reading reading("@main () -> () {\na.one () -> (" + value("%1") +
                    ")\na.if () -> () {\na.two () -> (" + value("%1") +
                    ")\na.three(%1) -> ()\n}\n}\n");
    Module& module = reading.module();
    Op* outer = find_op(module.body(), "a.one");
    Rewriter(module).set_operand(*find_op(module.body(), "a.three"), 0, outer->result());
    Reprint again(module);
    CHECK(find_op(again.body(), "a.three")->operand(0) == find_op(again.body(), "a.one")->result());
  }

  TEST_CASE("the signature of a region names what its return gives") {
    Reading reading("@main () -> (" + value("%1") + ") {\na.one () -> (" + value("%1") + ", " +
                    value("%2") + ")\ncf.ReturnOp (%1) -> ()\n}\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Rewriter(module).set_operand(*ops[1], 0, ops[0]->result(1));
    CHECK(print(module).starts_with("@main () -> (" + value("%2") + ") {"));
  }

  TEST_CASE("numbers near the largest leave room for fresh names") {
    Reading reading(module_text({"a.one() -> (" + value("%2147483646") + ")",
                                 "a.two() -> (" + value("%99999999999") + ")",
                                 "a.three() -> (" + value("%fresh_0") + ")"}));
    Module& module = reading.module();
    const Type* type = ops_of(module.body())[0]->result()->type();
    std::vector<Value*> made;
    for (int i = 0; i < 3; ++i) {
      Op* op = Rewriter(module).create_detached(
          {.name = reading.context.op_name("a.new"), .result_types = std::vector{type}});
      if (i != 0) Rewriter(module).set_name(*op->result(), module.fresh_name());
      Rewriter(module).insert(*op, *module.body().entry(), nullptr);
      made.push_back(op->result());
    }
    Rewriter rewriter(module);
    rewriter.set_insertion_point_to_end(*module.body().entry());
    rewriter.create({.name = reading.context.op_name("a.use"), .operands = made});
    Reprint again(module);
    const auto ops = ops_of(again.body());
    for (std::size_t i = 0; i < 3; ++i) CHECK(ops[6]->operand(i) == ops[3 + i]->result());
    CHECK(print(again.reading.module()) == again.text);
  }

  // -- mentions -----------------------------------------------------------------------------------

  TEST_CASE("a mention keeps what it states beyond its value while its value stays") {
    const std::string text =
        module_text({"a.one() -> (%1:tensor<[2], F, D>[k:1])", "a.two(%1:tensor<[4], F, D>) -> ()",
                     "a.three(%1:tensor<[2], F, D>[@w][constant:[1]]) -> ()"});
    Reading reading(text);
    Module& module = reading.module();
    CHECK(print(module) == text);
    Op* fresh = Rewriter(module).create_detached(
        {.name = reading.context.op_name("a.new"),
         .result_types = std::vector{ops_of(module.body())[0]->result()->type()}});
    Rewriter(module).insert(*fresh, *module.body().entry(), module.body().entry()->front());
    Rewriter(module).replace_all_uses(*ops_of(module.body())[1]->result(), *fresh->result());
    CHECK(print(module).find(
              "a.two(%2:tensor<[2], F, D>) -> ()\n    a.three(%2:tensor<[2], F, D>) -> ()") !=
          std::string::npos);
  }

  TEST_CASE("a mention keeps what it states where another op takes the place of the definition") {
    Reading reading(
        module_text({"a.zero(%1:tensor<[2], F, D>[k:1]) -> ()", "a.one() -> (%2:tensor<[2], F, D>)",
                     "a.two(%2:tensor<[4], F, D>) -> ()"}));
    Module& module = reading.module();
    Op& one = *ops_of(module.body())[1];
    Rewriter rewriter(module);
    const Type* types[] = {one.result()->type()};
    Op* other =
        rewriter.create_detached({.name = reading.context.op_name("a.new"), .result_types = types});
    rewriter.set_name(*other->result(), one.result()->name());
    rewriter.replace(one, *other);
    CHECK(
        print(module).find("a.new() -> (%2:tensor<[2], F, D>)\n    a.two(%2:tensor<[4], F, D>)") !=
        std::string::npos);
  }

  TEST_CASE("two attribute lists on one mention print as one") {
    Reading reading(module_text({"a.one(%1:tensor<[1], F, D>[constant:[1]][constant:[1]]) -> ()"}));
    CHECK(Reprint(reading.module()).text ==
          module_text({"a.one(%1:tensor<[1], F, D>[constant:[1], constant:[1]]) -> ()"}));
  }

  // -- quotes -------------------------------------------------------------------------------------

  TEST_CASE("portable text quotes what is not a word") {
    const std::string text =
        "@\"0\" [mir_version:1] () -> () {\n"
        "    graph.SubGraphOp @\"a b\" <CPU> [symbol:\"a b\", \"k,l\":1] {\n"
        "        () -> () {\n"
        "            a.b <name=\"say \\\"x\\\"\">(%0:tensor<[1], F, D>[@\"w 1\"]) -> ()[k:@\"s "
        "t\", l:word, m:\"\", n:{\"a b\":1}]\n"
        "        }\n"
        "    }\n"
        "}\n";
    Reading reading(text);
    CHECK(print(reading.module()) == text);
  }

  TEST_CASE("a dump quotes what would not read back as it is, and nothing else") {
    const std::string text = module_text({
        "a.b @odd name-1/b: c () -> ()[last key!:1]",
        "a.b @\"x(%0)\" () -> ()[\"a:b\":1]",
        "a.b @\" x\" () -> ()[\"\":1, \" k\":2]",
        "a.b @\"a // b\" () -> ()[\"[k]\":1]",
        "prog.jump \"a b\"[offset:1]",
        "prog.jump a b.__entry[offset:1]",
        "a.b(%0:tensor<[1], F, D>[@\"a]b\"]) -> ()",
        "a.b() -> ()[k:two words, \"last key!\":1, last key!:$S+1, \"x y\":2]",
        "a.b @\"two words\"",
        "a.b @two words <CPU>",
    });
    Reading reading(text);
    CHECK(print(reading.module()) == text);
    CHECK(Reprint(reading.module()).text == text);
  }

  TEST_CASE("all modules of a context print in order") {
    Reading reading("@a () -> () {\n}\n@b () -> () {\n}\n");
    CHECK(print(reading.context) == print(*reading.modules[0]) + print(*reading.modules[1]));
    CHECK(IRPrinter().print(*reading.modules[0]) == print(*reading.modules[0]));
  }

  TEST_CASE("an op, or the ops of a region, print as their module has them") {
    Reading reading(
        "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>) {\n"
        "    graph.SubGraphOp @f <CPU> {\n"
        "        (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n"
        "            linalg.CPU.NegOp(%0) -> (%1:tensor<[2], Float32, CPU>)\n"
        "            cf.ReturnOp (%1) -> ()\n"
        "        }\n"
        "    }\n"
        "    graph.CallGraphOp @f (%x) -> (%z:tensor<[2], Float32, CPU>)\n"
        "    cf.ReturnOp (%z) -> ()\n"
        "}\n");
    Module& module = reading.module();
    const Op& graph = *find_op(module.body(), "graph.SubGraphOp");
    const std::string neg =
        "linalg.CPU.NegOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n";
    CHECK(print(*find_op(module.body(), "linalg.CPU.NegOp")) == neg);
    CHECK(print(*graph.first_region()) ==
          neg + "cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()\n");
    CHECK(IRPrinter().print(*graph.first_region()) == print(*graph.first_region()));
    CHECK(print(graph) == test::Part{"graph.SubGraphOp @f <CPU> {\n"});
    CHECK(IRPrinter().print(graph) == print(graph));
    CHECK(print(*module.top()) == print(module));
    // Each op of a region is what the module says of it.
    const std::string whole = print(module);
    for (const Op* op : module.body().entry()->ops()) {
      std::string indented = "    ";
      for (const char c : print(*op))
        indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
      indented.resize(indented.size() - 4);
      CHECK(whole == test::Part{indented});
    }
  }

  TEST_CASE("in pieces the text is the same, and no piece is much longer than a buffer") {
    constexpr std::size_t kBuffer = std::size_t{256} << 10;
    std::string text = "@a [mir_version:1] () -> () {\n";
    for (int i = 0; i < 9000; ++i)
      text += "    a.b <name=\"" + std::string(i % 150, 'x') + "\">() -> ()\n";
    text += "    a.b <name=\"" + std::string(3 * kBuffer, 'y') + "\">() -> ()\n}\n";
    Reading reading(text + "@b () -> () {\n}\n");
    std::string whole;
    std::size_t pieces = 0, longest = 0;
    print(reading.modules, [&](std::string_view piece) {
      whole += piece;
      ++pieces;
      longest = std::max(longest, piece.size());
    });
    CHECK(whole == print(reading.context));
    CHECK(pieces > 3);
    CHECK(longest < 4 * kBuffer);
  }
}
