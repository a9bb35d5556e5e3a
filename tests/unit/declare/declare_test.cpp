// What a text declares is equal to what code declares.
#include <fstream>
#include <iterator>

#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::dialect_of_op;
using mir::test::module_of_line;

namespace {

constexpr std::string_view kDense =
    "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, D>) "
    "{ linalg.D.MatMulOp [transpose_b:true] (%x, %w) -> (%y) cf.ReturnOp (%y) -> () }\n";

constexpr std::string_view kAlike = "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n";

/// The types of the results of the first op of the last module.
std::vector<std::string> result_types(const Declared& declared) {
  std::vector<std::string> types;
  for (const Value& each : declared.modules.back()->body().entry()->front()->results()) {
    types.emplace_back(each.type() == nullptr ? "none" : each.type()->spelling());
  }
  return types;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("declarations") {
  TEST_CASE("a row has the arities, attributes and traits of its declaration") {
    const Declared read(dialect_of_op(
        "attributes:{k:{type:int, required:true, range:[1, 8], summary:\"how many\"}, "
        "mode:{choices:[a, b], default:a}, eps:{type:float, default:1}}, "
        "traits:[pure, elementwise], summary:\"A test.\", aliases:[OtherOp]",
        "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true]) -> "
        "(%z:tensor<[$n], T, D>) { }\n"));
    CHECK(read.problems == "");
    const Dialect* my = read.context.find_dialect("my");
    REQUIRE(my != nullptr);
    REQUIRE(my->rows.size() == 1);
    const OpRow& row = my->rows[0];
    CHECK(row.name == "AnOp");
    CHECK(row.operands.min == 1);
    CHECK(row.operands.max == 2);
    CHECK(row.results.min == 1);
    CHECK(row.results.max == 1);
    CHECK(has_all(row.traits, Trait::kPure | Trait::kElementwise));
    CHECK(row.summary == "A test.");
    REQUIRE(row.aliases.size() == 1);
    CHECK(row.aliases[0] == "OtherOp");
    REQUIRE(row.attributes.size() == 3);
    CHECK(row.attributes[0].required);
    CHECK(row.attributes[0].range == AttrRange{1, 8});
    CHECK(row.attributes[1].type == AttrType::kString);
    CHECK(row.attributes[1].default_text == "a");
    CHECK(row.attributes[1].choices.size() == 2);
    CHECK(row.attributes[2].default_text == "1.0");
    CHECK_FALSE(row.body);
    CHECK(my->text == print(*read.modules.front()));
  }

  TEST_CASE("results are inferred by unification of the signature") {
    struct Row {
      std::string signature, attributes, inputs, line;
      Texts types;
    };
    const Row rows[] = {
        {std::string(kDense),
         "",
         "%x:tensor<[2, $S, 8], Float32, CPU>, %w:tensor<[5, 8], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         {"tensor<[2, $S, 5], Float32, CPU>"}},
        {std::string(kDense),
         "",
         "%x:tensor<[2, 8], Float16, CPU>, %w:tensor<[5, 8], Float16, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         {"tensor<[2, 5], Float16, CPU>"}},
        {"(%x:tensor<[$B.., 2*$h], T, D>) -> (%a:tensor<[$B.., $h], T, D>, "
         "%b:tensor<[$h, $h+1], T, D>) { }\n",
         "",
         "%x:tensor<[3, 10], Int32, CPU>",
         "my.AnOp(%x) -> (%a, %b)",
         {"tensor<[3, 5], Int32, CPU>", "tensor<[5, 6], Int32, CPU>"}},
        {"(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n/$k], R, D>) { }\n",
         "attributes:{k:{type:int, default:2}, R:{type:dtype, required:true}}",
         "%x:tensor<[12], Int32, CPU>",
         "my.AnOp [R:Float16] (%x) -> (%y)",
         {"tensor<[6], Float16, CPU>"}},
        {"(%x:tensor<[$n], T, D>, %y:tensor<[$m], T, D>) -> (%z:tensor<[$c..], T, D>) { }\n",
         "let:{\"$c..\":\"broadcast([$n], [$m])\"}",
         "%x:tensor<[1], Float32, CPU>, %y:tensor<[7], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         {"tensor<[7], Float32, CPU>"}},
        {"(%x:tensor<[$n], T, D>) -> (%z:tensor<[$c, $n], T, D>) { }\n",
         "fresh:[$c]",
         "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> (%z)",
         {"tensor<[?, 4], Float32, CPU>"}},
        {"(%x:tensor<[$n], T, D>, %y:tensor<[$n, $m], T, D>) -> (%z:tensor<[$n, $m], T, D>) { }\n",
         "",
         "%x:tensor<[?], Float32, CPU>, %y:tensor<[4, ?], Float32, CPU>",
         "my.AnOp(%x, %y) -> (%z)",
         {"tensor<[4, ?], Float32, CPU>"}},
        {"(%xs:tensor<[$n], T, D>[many:true]) -> (%z:tensor<[$n], T, D>) { }\n",
         "",
         "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x, %x, %x) -> (%z)",
         {"tensor<[4], Float32, CPU>"}},
        {"(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true]) -> "
         "(%z:tensor<[$n], T, D>) { }\n",
         "",
         "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> (%z)",
         {"tensor<[4], Float32, CPU>"}},
        {"(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true]) -> "
         "(%z:tensor<[$n], T, D>) { }\n",
         "",
         "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x, %x) -> (%z)",
         {"tensor<[4], Float32, CPU>"}},
        {"(%x:tensor<[$n], T, D>) -> (%zs:tensor<[$n], T, D>[many:true]) { }\n",
         "",
         "%x:tensor<[4], Float32, CPU>",
         "my.AnOp(%x) -> (%a, %b)",
         {"tensor<[4], Float32, CPU>", "tensor<[4], Float32, CPU>"}},
    };
    for (const Row& row : rows) {
      CAPTURE(row.signature);
      const Declared read(dialect_of_op(row.attributes, row.signature) +
                          module_of_line(row.inputs, row.line));
      CHECK(read.problems == "");
      CHECK(result_types(read) == row.types);
    }
  }

  TEST_CASE("a body takes as many operands as a use has, and finds fresh extents of its results") {
    const std::string dialect =
        dialect_of_op("fresh:[$m]",
                      "(%xs:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$m], T, D>) { "
                      "linalg.D.ConcatOp [dim:0] (%xs) -> (%y) cf.ReturnOp (%y) -> () }\n");
    const auto problems = [&](const std::string& operands, int extent) {
      return Declared(dialect + module_of_line("%x:tensor<[2], Float32, CPU>",
                                               "my.AnOp(" + operands + ") -> (%y:tensor<[" +
                                                   std::to_string(extent) + "], Float32, CPU>)"))
          .problems;
    };
    CHECK(problems("%x", 2) == "");
    CHECK(problems("%x, %x", 4) == "");
    CHECK(problems("%x, %x, %x", 6) == "");
    CHECK(problems("%x, %x, %x", 4) != "");
  }

  TEST_CASE("a body that needs an operand says nothing of uses without it") {
    const std::string dialect = dialect_of_op(
        "",
        "(%x:tensor<[2], Float32, CPU>[optional:true]) -> (%y:tensor<[2], Float32, CPU>) { "
        "linalg.CPU.NegOp(%x) -> (%y) cf.ReturnOp (%y) -> () }\n");
    CHECK(Declared(dialect + module_of_line("%x:tensor<[2], Float32, CPU>", "my.AnOp() -> (%y)"))
              .problems == "");
    CHECK(Declared(dialect + module_of_line("%x:tensor<[2], Float32, CPU>", "my.AnOp(%x) -> (%y)"))
              .problems == "");
  }

  TEST_CASE("bodies may share ops in any order and must not contain each other") {
    const auto op = [](const std::string& name, const std::string& body) {
      return "dialect.OpOp @" + name + " {\n(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { " +
             body + " cf.ReturnOp (%y) -> () }\n}\n";
    };
    const std::string head = "@my [mir_version:2] () -> () {\n";
    const std::string one = op("One", "linalg.D.NegOp(%x) -> (%y)");
    const std::string two = op("Two", "my.One(%x) -> (%y)");
    const std::string three = op("Three", "my.One(%x) -> (%a) my.Two(%a) -> (%y)");
    CHECK(Declared(head + one + two + three + "}\n").problems == "");
    CHECK(Declared(head + three + two + one + "}\n").problems == "");
    const std::string found =
        Declared(head + one + three + op("Two", "my.Three(%x) -> (%y)") + "}\n").problems;
    CHECK(found.find("contains the op itself") != std::string::npos);
  }

  TEST_CASE("types of the dialect have parameters that signatures bind") {
    const Declared read(
        "@my [mir_version:2] () -> () {\n"
        "    dialect.TypeOp @tile [parameters:{rows:{type:int, range:[1, 64]}, "
        "of:{type:dtype, default:Float32}}, where:{\"$rows % 4 == 0\":\"rows come by fours\"}]\n"
        "    dialect.OpOp @LoadOp {\n"
        "        (%x:tensor<[$r, $c], T, D>) -> (%t:!my.tile<$r, T>) { }\n    }\n"
        "    dialect.OpOp @PairOp {\n"
        "        (%a:!my.tile<$r>, %b:!my.tile<$r>) -> (%t:!my.tile<2*$r>) { }\n    }\n}\n" +
        module_of_line("%x:tensor<[8, 3], Float32, CPU>",
                       "my.LoadOp(%x) -> (%t)\n    my.PairOp(%t, %t) -> (%p)"));
    CHECK(read.problems == "");
    CHECK(result_types(read) == Texts{"!my.tile<8>"});
    const Op* pair = read.modules.back()->body().entry()->front()->next();
    CHECK(pair->result()->type()->spelling() == "!my.tile<16>");
    Declared odd(print(*read.modules.front()));
    CHECK(odd.problems == "");
    odd.read(module_of_line("%x:!my.tile<6>", ""));
    CHECK(odd.problems == "MIR0318 parameters of '!my.tile': rows come by fours\n");
  }

  TEST_CASE("attributes of the dialect have the parameters of their declaration") {
    const auto read = [](const std::string& attribute) {
      return Declared(
                 "@my [mir_version:2] () -> () {\n    dialect.AttributeOp @layout "
                 "[parameters:{rows:{type:int, range:[1, 64]}}]\n    dialect.OpOp @AnOp {\n" +
                 std::string(kAlike) + "    }\n}\n" +
                 module_of_line("%x:tensor<[8], Float32, CPU, " + attribute + ">",
                                "my.AnOp (%x) -> (%y)"))
          .problems;
    };
    CHECK(read("#my.layout<8>") == "");
    CHECK(read("#my.layout<65>") ==
          "MIR0318 parameter 'rows' of '#my.layout' is 65, expected an integer from 1 to 64\n");
  }

  TEST_CASE("a weight of an op has a shape, or a shape and a condition") {
    for (const char* weight :
         {"\"[wide]\"", "{shape:\"[wide]\"}", "{shape:[wide]}",
          "{shape:\"[wide]\", present_if:bias}", "{present_if:bias, shape:\"[wide]\"}"}) {
      CAPTURE(weight);
      const Declared read(dialect_of_op(
          std::string("weights:{bias:") + weight +
              "}, attributes:{wide:{type:int, required:true}, bias:{type:bool, default:true}}",
          kAlike));
      CHECK(read.problems == "");
      const Dialect* my = read.context.find_dialect("my");
      REQUIRE(my != nullptr);
      REQUIRE(my->rows[0].weights.size() == 1);
      const WeightRow& row = my->rows[0].weights[0];
      CHECK(row.suffix == ".bias");
      CHECK(row.shape == "[wide]");
      CHECK(row.present_if ==
            (std::string_view(weight).find("present_if") == std::string_view::npos ? "" : "bias"));
    }
  }

  TEST_CASE("a dialect that is read again in the same words is the same dialect") {
    const std::string text = dialect_of_op("", kDense);
    Declared read(text);
    const Dialect* before = read.context.find_dialect("my");
    read.read(text);
    CHECK(read.problems == "");
    CHECK(read.context.find_dialect("my") == before);
    read.read(dialect_of_op("summary:\"Another.\"", kDense));
    CHECK(read.problems == "MIR0319 dialect 'my' is declared already, and otherwise than here\n");
  }

  TEST_CASE("what is printed declares the same") {
    for (const char* name : {"moe.mir", "npu.mir", "rotary.mir"}) {
      CAPTURE(name);
      const std::string path = std::string(MIR_SOURCE_ROOT) + "/testdata/examples/dialects/" + name;
      std::ifstream stream(path);
      REQUIRE(stream);
      const Declared read(std::string(std::istreambuf_iterator<char>(stream), {}));
      CHECK(read.problems == "");
      const std::string printed = print(*read.modules.front());
      const Declared again(printed);
      CHECK(again.problems == "");
      CHECK(print(*again.modules.front()) == printed);
      const std::string dialect(read.context.text(read.modules.front()->name()));
      const Dialect* a = read.context.find_dialect(dialect);
      const Dialect* b = again.context.find_dialect(dialect);
      REQUIRE(a != nullptr);
      REQUIRE(b != nullptr);
      CHECK(a->text == b->text);
      CHECK(a->rows.size() == b->rows.size());
    }
  }

  TEST_CASE("version_c1: MIR0321 what a text declares needs version 2") {
    const std::string dialect = dialect_of_op("", kDense);
    const auto replaced = [](std::string text) {
      return text.replace(text.find("mir_version:2"), 13, "mir_version:1");
    };
    CHECK(Declared(replaced(dialect)).problems ==
          "MIR0321 dialect 'my' is declared by a module, which needs mir_version:2\n");
    const std::string model =
        module_of_line("%x:tensor<[2, 8], Float16, CPU>, %w:tensor<[5, 8], Float16, CPU>",
                       "my.AnOp(%x, %w) -> (%y)");
    CHECK(Declared(dialect + model).problems == "");
    CHECK(Declared(dialect + replaced(model)).problems ==
          "MIR0321 'my.AnOp' is of a dialect that a text declares, so the module needs "
          "mir_version:2\n");
  }

  TEST_CASE("a module that stands before its dialect in a text knows it") {
    Declared read(module_of_line("%x:tensor<[2, 8], Float16, CPU>, %w:tensor<[5, 8], Float16, CPU>",
                                 "my.AnOp(%x, %w) -> (%y:tensor<[2, 5], Float16, CPU>)") +
                  dialect_of_op("", kDense));
    CHECK(read.problems == "");
  }
}
