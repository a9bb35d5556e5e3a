#include "mir/verify.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>

#include "../syntax/corpus.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"
#include "verified.hpp"

using namespace mir;
using namespace mir::test;

TEST_SUITE("verify") {
  TEST_CASE("op_c1: MIR0400 an operation that no dialect declares") {
    CHECK(checked({"  my.Op (%0) -> ()"}) == Lines{"2:3 MIR0400 operation 'my.Op' is not known"});
    CHECK(checked({"linalg.CPU.NoSuchOp(%0) -> ()"}) ==
          Lines{"2:1 MIR0400 operation 'linalg.CPU.NoSuchOp' is not known"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)"}) == Lines{});
    CHECK(verified("@main () -> () { my.Op () -> () }\n") ==
          Lines{"1:18 MIR0400 warning operation 'my.Op' is not known"});
  }

  TEST_CASE("op_c2: MIR0401 a wrong number of operands, results or regions") {
    CHECK(checked({"linalg.CPU.SiLUOp(%0, %0) -> (%1:tensor<[2, 4], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0401 'linalg.SiLUOp' has 2 operands, expected 1"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> ()"}) ==
          Lines{"2:1 MIR0401 'linalg.SiLUOp' has 0 results, expected 1"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1) {", "}"}) ==
          Lines{"2:1 MIR0401 'linalg.SiLUOp' has 1 region, expected 0"});
    CHECK(checked({"linalg.CPU.ConcatOp [dim:0] () -> (%1:tensor<[2], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0401 'linalg.ConcatOp' has 0 operands, expected at least 1"});
    CHECK(checked({"graph.SubGraphOp @g <CPU>"}) ==
          Lines{"2:1 MIR0401 'graph.SubGraphOp' has 0 regions, expected 1"});
    CHECK(checked({"linalg.CPU.ConcatOp [dim:0] (%0, %0, %0) -> (%1)"}) == Lines{});
  }

  TEST_CASE("op_c3: MIR0402 an operation that only dumps have") {
    CHECK(checked({"prog.inst (%0) -> ()"}) ==
          Lines{"2:1 MIR0402 'prog.InstructionOp' has no place in a portable module"});
    CHECK(verified("@main () -> () { prog.inst () -> () }\n") == Lines{});
  }

  TEST_CASE("block_c1: MIR0403 a terminator that is not last in its block") {
    CHECK(checked({"cf.ReturnOp () -> ()", "linalg.CPU.SiLUOp(%0) -> (%1)"}) ==
          Lines{"2:1 MIR0403 'cf.ReturnOp' must be the last operation of its block"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)"}) == Lines{});
  }

  TEST_CASE("block_c2: MIR0404 a graph that does not end with its return") {
    CHECK(verified(module_of({"linalg.CPU.SiLUOp(%0) -> (%1)"})) ==
          Lines{"1:1 MIR0404 the module does not end with cf.ReturnOp"});
    CHECK(checked({"graph.SubGraphOp @g <CPU> {", "(%9:tensor<[1], Float32, CPU>) -> () {", "}",
                   "}"}) == Lines{"2:1 MIR0404 graph '@g' does not end with cf.ReturnOp"});
    CHECK(checked({"graph.SubGraphOp @g <CPU> {", "() -> () {", "graph.SubGraphOp @h <CPU> {",
                   "(%9:tensor<[1], Float32, CPU>) -> () {", "}", "}", "}", "}"}) ==
          Lines{"4:1 MIR0404 graph '@h' does not end with cf.ReturnOp"});
    CHECK(checked({"graph.SubGraphOp @g <CPU> {", "() -> () {", "}", "}"}) == Lines{});
    CHECK(verified("@main [mir_version:1] () -> () { }\n") == Lines{});
  }

  TEST_CASE("signature_c1, signature_c2: MIR0405 a signature that differs from what is returned") {
    CHECK(verified(module_of({"cf.ReturnOp (%0) -> ()"})) ==
          Lines{"2:1 MIR0405 the module returns 1 value (%0), its signature states 0"});
    CHECK(verified(module_of({"cf.ReturnOp (%0) -> ()"}, "%0:tensor<[4, 2], Float32, CPU>")) ==
          Lines{"2:1 MIR0405 result 0 of the module is %0:tensor<[2, 4], Float32, CPU>, its "
                "signature states %0:tensor<[4, 2], Float32, CPU>"});
    CHECK(checked({"graph.SubGraphOp @g <CPU> {", "(%9:tensor<[1], Float32, CPU>) -> (%9, %9) {",
                   "cf.ReturnOp (%9) -> ()", "}", "}"}) ==
          Lines{"4:1 MIR0405 graph '@g' returns 1 value (%9), its signature states 2"});
    CHECK(verified(module_of({"cf.ReturnOp (%0) -> ()"}, "%0:tensor<[2, ?], Float32, CPU>")) ==
          Lines{});
    CHECK(verified(module_of({"cf.ReturnOp (%0) -> ()"}, "%0")) == Lines{});
  }

  TEST_CASE("symbol_c1: MIR0406 a symbol that is declared twice") {
    CHECK(checked({graph("g"), graph("g")}) == Lines{"7:1 MIR0406 symbol '@g' is declared twice"});
    CHECK(checked({"tensor.CPU.register () -> (%1:tensor<[1], Float32, CPU>[@w])[symbol:w]",
                   "tensor.CPU.register () -> (%2:tensor<[1], Float32, CPU>[@w])[symbol:w]"}) ==
          Lines{"3:1 MIR0406 symbol '@w' is declared twice"});
    CHECK(checked({graph("g"), graph("h"),
                   "tensor.CPU.register () -> (%2:tensor<[1], Float32, CPU>[@w])[symbol:w]"}) ==
          Lines{});
    CHECK(checked({graph("g"), "graph.CallGraphOp @g (%0) -> (%1:tensor<[2, 4], Float32, CPU>)"}) ==
          Lines{});
    CHECK(verified("@main () -> () {\n" + graph("g") + "\n" + graph("g") + "\n}\n") ==
          Lines{"7:1 MIR0406 warning symbol '@g' is declared twice"});
  }

  TEST_CASE("ssa_c1: MIR0407 a value that is used above its definition") {
    CHECK(checked({"linalg.CPU.SiLUOp(%1:tensor<[2, 4], Float32, CPU>) -> (%2)",
                   "  linalg.CPU.SiLUOp(%0) -> (%1)"}) ==
          Lines{"2:19 MIR0407 operand 0 of 'linalg.SiLUOp' is defined below its use"});
    CHECK(checked({"linalg.CPU.SiLUOp(%1:tensor<[2, 4], Float32, CPU>) -> (%1)"}) ==
          Lines{"2:19 MIR0407 operand 0 of 'linalg.SiLUOp' is defined below its use"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)", "linalg.CPU.SiLUOp(%1) -> (%2)"}) == Lines{});
  }

  TEST_CASE("attribute_c1: MIR0408 an attribute that the operation does not have") {
    CHECK(checked({"linalg.CPU.SiLUOp [axis:1] (%0) -> (%1)"}) ==
          Lines{"2:20 MIR0408 'linalg.SiLUOp' has no attribute 'axis'"});
    CHECK(checked({"linalg.CPU.SiLUOp [qnn_graph_name:\"g\", using_qnn:true] (%0) -> (%1)"}) ==
          Lines{});
    CHECK(verified("@main [mir_version:1, origin:\"x\"] () -> () { }\n") == Lines{});
  }

  TEST_CASE("attribute_c2: MIR0409 an attribute that the operation needs") {
    CHECK(checked({"linalg.CPU.TransposeOp [dim0:0] (%0) -> (%1:tensor<[4, 2], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0409 'linalg.TransposeOp' needs attribute 'dim1'"});
    CHECK(checked({"linalg.CPU.TransposeOp [dim0:0, dim1:1] (%0) -> (%1)"}) == Lines{});
  }

  TEST_CASE("type_c1: MIR0410 a result type other than the one the rule infers") {
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1:tensor<[4, 2], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0410 result 0 of 'linalg.SiLUOp' is stated as tensor<[4, 2], Float32, "
                "CPU>, its operands and "
                "attributes give tensor<[2, 4], Float32, CPU>"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1:!tt.buffer<4>)"}).size() == 1);
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1:tensor<[2, ?], Float32, CPU>)"}) == Lines{});
    // Without its option an op's declared type is kept.
    CHECK(checked({"linalg.CPU.ViewOp(%0) -> (%1:tensor<[8], Float32, CPU>)",
                   "linalg.CPU.CastTypeOp(%0) -> (%2:tensor<[2, 4], Float16, CPU>)",
                   "linalg.CPU.X2XOp(%0) -> (%3:tensor<[2, 4], Float32, QNN>)"}) == Lines{});
  }

  TEST_CASE("call_c1: MIR0411 a call of a graph that does not exist") {
    CHECK(checked({"graph.CallGraphOp @g (%0) -> ()"}) ==
          Lines{"2:19 MIR0411 no graph is named '@g'"});
    CHECK(verified("@main () -> () {\n graph.CallGraphOp @g () -> ()\n}\n") ==
          Lines{"2:20 MIR0411 no graph is named '@g'"});
    CHECK(checked({"prog.fragment @g <CPU> <code> {", "}", "graph.CallGraphOp @g () -> ()"}) ==
          Lines{"4:19 MIR0411 no graph is named '@g'"});
    CHECK(checked({graph("g"), "graph.CallGraphOp @g (%0) -> (%1:tensor<[2, 4], Float32, CPU>)"}) ==
          Lines{});
  }

  TEST_CASE("call_c3: a call of a module of version 2 passes other extents for symbols") {
    const auto call = [](int version, std::string_view extents, std::string_view result) {
      return fmt::format(
          R"(@main [mir_version:{}] (%x:tensor<[{}], Float32, CPU>) -> (%y:tensor<[{}], Float32, CPU>) {{
 graph.SubGraphOp @g <CPU> {{
  (%a:tensor<[$S, $S], Float32, CPU>) -> (%b:tensor<[$S, 2*$S], Float32, CPU>) {{
   linalg.CPU.ConcatOp [dim:1] (%a, %a) -> (%b:tensor<[$S, 2*$S], Float32, CPU>)
   cf.ReturnOp (%b) -> ()
  }}
 }}
 graph.CallGraphOp @g (%x) -> (%y)
 cf.ReturnOp (%y) -> ()
}}
)",
          version, extents, result);
    };
    CHECK(verified(call(2, "3, 3", "3, 6")) == Lines{});
    CHECK(verified(call(2, "$T+1, $T+1", "$T+1, 2*$T+2")) == Lines{});
    CHECK(verified(call(2, "3, 4", "3, 6")) ==
          Lines{"8:24 MIR0412 operand 0 of the call of '@g' is tensor<[3, 4], Float32, CPU>, the "
                "graph has tensor<[3, 3], Float32, CPU>"});
    CHECK(verified(call(2, "3, 3", "3, 5")).size() == 1);
    CHECK(verified(call(1, "$S, $S", "$S, 2*$S")) == Lines{});
    CHECK(verified(call(1, "3, 3", "3, 6")).size() == 2);
  }

  TEST_CASE("call_c2, call_c3: MIR0412 a call that does not fit the graph it names") {
    CHECK(checked({graph("g"), "graph.CallGraphOp @g () -> (%1:tensor<[2, 4], Float32, CPU>)"}) ==
          Lines{"7:19 MIR0412 call of '@g' has 0 operands, the graph has 1"});
    CHECK(checked({graph("g"), "graph.CallGraphOp @g (%0) -> ()"}) ==
          Lines{"7:19 MIR0412 call of '@g' has 0 results, the graph has 1"});
    CHECK(
        checked({graph("g"), "graph.CallGraphOp @g (%0) -> (%1:tensor<[8], Float32, CPU>)"}) ==
        Lines{
            "7:31 MIR0412 result 0 of the call of '@g' is tensor<[8], Float32, CPU>, the graph has "
            "tensor<[2, 4], Float32, CPU>"});
    // Dumps print stale types at calls, and may lose operands.
    const std::string dump = "@main () -> () {\n" + graph("g") + "\ngraph.CallGraphOp @g (";
    CHECK(verified(dump + ") -> ()\n}\n") ==
          Lines{"7:19 MIR0412 warning call of '@g' has 0 operands, the graph has 1"});
    CHECK(verified(dump + "%1:tensor<[3], Float32, CPU>) -> (%2:tensor<[3], Float32, CPU>)\n}\n") ==
          Lines{});
  }

  TEST_CASE("call_c4: MIR0413 a graph that calls itself") {
    const auto call = [](const std::string& name) {
      return "graph.CallGraphOp @" + name + " (%9) -> (%8:" + kType + ")";
    };
    CHECK(checked({graph("g", call("g"))}) == Lines{"4:1 MIR0413 graph calls itself: @g -> @g"});
    CHECK(checked({graph("a", call("b")), graph("b", call("c")), graph("c", call("b"))}) ==
          Lines{"16:1 MIR0413 graph calls itself: @b -> @c -> @b"});
    CHECK(checked({graph("a", call("c")), graph("b", call("c")), graph("c")}) == Lines{});
    CHECK(verified("@main () -> () {\n" + graph("g", call("g")) + "\n}\n").size() ==
          1);  // in a dump as well
  }

  TEST_CASE("call_c4: MIR0413 calls inside regions count, and graphs inside graphs") {
    VerifyOptions errors;
    errors.report_findings = false;
    CHECK(verified("@main () -> () {\n" +
                       graph("g", "my.If () -> () {\ngraph.CallGraphOp @g () -> ()\n}") + "\n}\n",
                   errors) == Lines{"5:1 MIR0413 graph calls itself: @g -> @g"});
    const auto nested = [&](const std::string& callee) {
      return verified("@main () -> () {\n" +
                          graph("g", graph("h", "graph.CallGraphOp @" + callee + " () -> ()")) +
                          "\n}\n",
                      errors);
    };
    CHECK(nested("h") == Lines{"6:1 MIR0413 graph calls itself: @h -> @h"});
    CHECK(nested("g") == Lines{});
  }

  TEST_CASE("call_c4: MIR0413 calls deeper than a thousand are refused, however many") {
    std::string text = "@main () -> () {\n";
    for (int i = 0; i < 3000; ++i) {
      text += "graph.SubGraphOp @g" + std::to_string(i) +
              " <CPU> {\n() -> () {\ngraph.CallGraphOp @g" + std::to_string(i + 1) +
              " () -> ()\n}\n}\n";
    }
    const Lines found = verified(text + "graph.SubGraphOp @g3000 <CPU> {\n() -> () {\n}\n}\n}\n");
    REQUIRE_FALSE(found.empty());
    CHECK(found[0] == test::Part{"MIR0413 calls are nested deeper than 1000"});
  }

  TEST_CASE("type_c4: MIR0474 an element type that is not known") {
    const Lines found =
        checked({"linalg.CPU.CastTypeOp [dtype:Float16] (%0) -> (%1:tensor<[2, 4], "
                 "Float16, CPU>)",
                 "tensor.CPU.alloc () -> (%2:tensor<[2], Flat4, CPU>)",
                 "linalg.CPU.SiLUOp(%2) -> (%3:tensor<[2], Flat4, CPU>)"});
    CHECK(found ==
          Lines{"3:40 MIR0474 element type 'Flat4' of tensor<[2], Flat4, CPU> is not known"});
    const std::string own = "tensor.CPU.alloc () -> (%2:tensor<[32], MIR_Q4_A32, CPU>)";
    CHECK(checked({own}) == Lines{});
    CHECK(
        verified("@main () -> () {\n" + own + "\n}\n") ==
        Lines{"2:41 MIR0474 warning element type 'MIR_Q4_A32' of tensor<[32], MIR_Q4_A32, CPU> is "
              "this "
              "toolkit's own, so no dump has it"});
  }

  TEST_CASE("type_c6: MIR0301 extents of portable modules are not negative") {
    const std::string type = "tensor<[-1, 4], Float32, CPU>";
    const std::string ops = "tensor.CPU.alloc () -> (%1:" + type + ")";
    CHECK(checked({ops, "linalg.CPU.SiLUOp(%1) -> (%2:" + type + ")"}) ==
          Lines{"2:1 MIR0301 extent -1 of tensor<[-1, 4], Float32, CPU> is negative; one that is "
                "not known is written ?"});
    CHECK(verified("@main () -> () {\n" + ops + "\n}\n") == Lines{});
  }

  TEST_CASE("type_c9: MIR0811 extents that no run can determine") {
    CHECK(checked({"linalg.CPU.ViewOp (%0) -> (%1:tensor<[?, 1], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0811 result 0 of 'linalg.ViewOp' is tensor<[?, 1], Float32, CPU>, and no "
                "attribute determines extent 0"});
    CHECK(checked({"linalg.CPU.ViewOp (%0) -> (%1:tensor<[8, 1], Float32, CPU>)"}) == Lines{});
    CHECK(checked({"linalg.CPU.ViewOp [to_shape:[-1, 1]] (%0) -> "
                   "(%1:tensor<[?, 1], Float32, CPU>)"}) == Lines{});
    const auto product = [](const std::string& type, const std::string& options,
                            const std::string& weight) {
      return verified(
          "@main [mir_version:1] (%x:tensor<[?, 4], Float32, CPU>) -> () {\n"
          "graph.SubGraphOp @init <CPU> {\n() -> () {\n"
          "tensor.CPU.register () -> (%w:tensor<" +
          weight + ", Float32, CPU>[@up.weight])[symbol:up.weight]\n}\n}\n" +
          "linalg.CPU.LinearOp <name=\"up\"> [bias:false" + options + "] (%x) -> (%y:tensor<" +
          type + ", Float32, CPU>)\ncf.ReturnOp () -> ()\n}\n");
    };
    CHECK(product("[?, ?]", "", "[32]") ==
          Lines{"7:1 MIR0811 result 0 of 'linalg.LinearOp' is tensor<[?, ?], Float32, CPU>, and "
                "neither 'out_channels' nor a parameter determines extent 1"});
    CHECK(product("[?, $H]", "", "[32]") == Lines{"7:1 MIR0427 no input and no cache binds '$H'"});
    CHECK(product("[?, 8]", "", "[32]") == Lines{});
    CHECK(product("[?, ?]", ", out_channels:8", "[32]") == Lines{});
    CHECK(product("[?, ?]", "", "[8, 4]") == Lines{});
    CHECK(product("[?, 6]", "", "[8, 4]").size() == 1);
    CHECK(product("[?, 8]", "", "[?, 4]") ==
          Lines{"4:1 MIR0811 parameter '@up.weight' is tensor<[?, 4], Float32, CPU>, expected "
                "numbers as extents"});
    CHECK(verified("@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>) -> () {\n"
                   "tensor.CPU.register () -> (%w:tensor<[$S], Float32, CPU>[@w])[symbol:w]\n"
                   "cf.ReturnOp () -> ()\n}\n") ==
          Lines{"2:1 MIR0419 'tensor.register' must stand in graph '@init'",
                "2:1 MIR0811 parameter '@w' is tensor<[$S], Float32, CPU>, expected numbers as "
                "extents"});
    // Dumps lose attributes and parameters.
    CHECK(verified("@main () -> () {\nlinalg.CPU.ViewOp(%0:tensor<[4], Float32, CPU>) -> "
                   "(%1:tensor<[-1, 1], Float32, CPU>)\n}\n") == Lines{});
  }

  TEST_CASE("type_c5: MIR0814 constants that do not fit their types") {
    const auto found = [](const std::string& values) {
      return checked(
          {"linalg.CPU.MulOp(%0, %c:tensor<[4], Float32, CPU>[constant:" + values + "]) -> (%1)"});
    };
    CHECK(found("[1, 2.5, inf, -1]") == Lines{});
    CHECK(found("[2]") == Lines{});
    const std::string begin = "2:1 MIR0814 constant tensor<[4], Float32, CPU>: ";
    CHECK(found("[1, 2]") == Lines{begin + "2 values are stated, expected 1 or 4"});
    CHECK(found("[]") == Lines{begin + "0 values are stated, expected 1 or 4"});
    CHECK(found("[word]") == Lines{begin + "'word' is no number"});
    CHECK(found("[-1e999]") ==
          Lines{begin + "'-1e999' is beyond the largest number; infinity is written inf"});
    CHECK(found("3") == Lines{begin + "a constant needs a list of values"});
    CHECK(found("[1e39]") ==
          Lines{begin + "'1e39' is beyond the largest number; infinity is written inf"});
    CHECK(found("[true]") == Lines{begin + "'true' is not a value of type Float32"});
  }

  TEST_CASE("type_c5: MIR0814 constants that their element type or extents cannot hold") {
    const auto found = [](const std::string& type, const std::string& values) {
      const std::string whole = "tensor<" + type + ", CPU>";
      Lines lines = verified(
          "@main [mir_version:1] (%s:tensor<[$S], Float32, CPU>) -> () {\n"
          "linalg.CPU.CloneOp (%c:" +
          whole + "[constant:" + values + "]) -> (%1)\ncf.ReturnOp () -> ()\n}\n");
      const std::string begin = "2:1 MIR0814 constant " + whole + ": ";
      for (std::string& line : lines) {
        if (line.starts_with(begin)) line = line.substr(begin.size());
      }
      return lines;
    };
    CHECK(found("[2], Int8", "[300, 1]") == Lines{"'300' is not a value of type Int8"});
    CHECK(found("[1], Int8", "[1.5]") == Lines{"'1.5' is not a value of type Int8"});
    CHECK(found("[1], UInt4", "[-1]") == Lines{"'-1' is not a value of type UInt4"});
    CHECK(found("[1], Bool", "[2]") == Lines{"'2' is not a value of type Bool"});
    CHECK(found("[1], UInt8PerTensor", "[256]") ==
          Lines{"'256' is not a value of type UInt8PerTensor"});
    CHECK(found("[1], Float8E4M3", "[1e4]").size() == 1);
    CHECK(found("[1], ComplexFP32", "[1]") == Lines{"elements of type ComplexFP32 are no numbers"});
    CHECK(found("[$S], Int8", "[1]") == Lines{"the extents of a constant must be numbers"});
    CHECK(found("[?], Int8", "[1]") == Lines{"the extents of a constant must be numbers"});
    CHECK(found("[4], Int8", "[-128, 127, 1e2, 1.0]") == Lines{});
    CHECK(found("[2], Bool", "[true, 0]") == Lines{});
    CHECK(found("[1], Int64", "[-9223372036854775808]") == Lines{});
  }

  TEST_CASE("type_c3: MIR0500 what ops keep that do not say what they make") {
    const auto found = [](const std::string& op, const std::string& type) {
      return checked({"linalg.CPU." + op + " (%0) -> (%1:tensor<" + type + ", CPU>)"});
    };
    CHECK(found("ViewOp", "[8], Float32") == Lines{});
    CHECK(found("ReshapeOp", "[4, $S], Float32").front() == test::Part{"MIR0500"});
    CHECK(found("ViewOp", "[5], Float32") ==
          Lines{"2:1 MIR0500 result 0 of 'ViewOp' is tensor<[5], Float32, CPU>, expected as many "
                "elements as operand 0, which is tensor<[2, 4], Float32, CPU>"});
    CHECK(found("CastTypeOp", "[2, 4], Float16") == Lines{});
    CHECK(found("CastTypeOp", "[8], Float16") ==
          Lines{"2:1 MIR0500 result 0 of 'CastTypeOp' is tensor<[8], Float16, CPU>, expected the "
                "shape of operand 0, which is tensor<[2, 4], Float32, CPU>"});
    CHECK(found("X2XOp", "[4, 2], Float32").size() == 1);
  }

  TEST_CASE("param_c1: MIR0410 a parameter's value has its type") {
    const auto found = [](const std::string& shape, const std::string& type) {
      return checked(
          {"graph.SubGraphOp @init <CPU> {", "() -> () {",
           "tensor.CPU.register () -> (%1:tensor<[2, 3], Float32, CPU>[@w])[symbol:w]", "}", "}",
           "linalg.CPU.ParamOp [name:\"w\", shape:" + shape + "] () -> (%2:" + type + ")"});
    };
    CHECK(found("[2, 3]", "tensor<[2, 3], Float32, CPU>") == Lines{});
    CHECK(found("[]", "tensor<[2, 3], Float32, CPU>") == Lines{});
    CHECK(found("[3, 2]", "tensor<[2, 3], Float32, CPU>") ==
          Lines{"7:37 MIR0410 result 0 of 'linalg.ParamOp' is stated as tensor<[2, 3], Float32, "
                "CPU>, 'shape' gives [3, 2]"});
    CHECK(found("[2, 3]", "tensor<[2, 3], Float16, CPU>") ==
          Lines{"7:1 MIR0410 result 0 of 'linalg.ParamOp' is stated as tensor<[2, 3], Float16, "
                "CPU>, parameter '@w' is tensor<[2, 3], Float32, CPU>"});
  }

  TEST_CASE("weight_c1: MIR0414 an operation with parameters and no name to find them by") {
    CHECK(
        checked({"linalg.CPU.LinearOp [bias:false] (%0) -> (%1:tensor<[2, 3], Float32, CPU>)"}) ==
        Lines{
            "2:1 MIR0414 'linalg.LinearOp' owns parameters and needs <name=\"...\"> to find them"});
  }

  const std::string up =
      "tensor.CPU.register () -> (%7:tensor<[3, 4], Float32, CPU>[@up.weight])[symbol:up.weight]";

  TEST_CASE("weight_c2: MIR0415 a parameter that is not registered") {
    CHECK(checked({up,
                   "linalg.CPU.LinearOp <name=\"up\"> [bias:true] (%0) -> (%1:tensor<[2, 3], "
                   "Float32, CPU>)"}) ==
          Lines{"3:21 MIR0415 no parameter '@up.bias' is registered"});
    CHECK(checked({"linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-6] (%0) -> (%1)"}) ==
          Lines{"2:22 MIR0415 no parameter '@n.weight' is registered"});
    CHECK(checked({up,
                   "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%0) -> (%1:tensor<[2, 3], "
                   "Float32, CPU>)"}) == Lines{});
  }

  TEST_CASE("weight_c3: MIR0416 a parameter of another size than its operation needs") {
    CHECK(checked({up,
                   "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%0) -> (%1:tensor<[2, 5], "
                   "Float32, CPU>)"}) ==
          Lines{"3:1 MIR0416 parameter '@up.weight' is tensor<[3, 4], Float32, CPU> with 12 "
                "elements, 'linalg.LinearOp' needs 20"});
    CHECK(
        checked(
            {"tensor.CPU.register () -> (%7:tensor<[5], Float32, CPU>[@n.weight])[symbol:n.weight]",
             "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-6] (%0) -> (%1)"})
            .size() == 1);
    // A packed weight may have another shape, not another count.
    CHECK(checked({"tensor.CPU.register () -> (%7:tensor<[12], Float32, "
                   "CPU>[@up.weight])[symbol:up.weight]",
                   "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%0) -> (%1:tensor<[2, 3], "
                   "Float32, CPU>)"}) == Lines{});
    // Extents whose product does not fit 64 bits.
    CHECK(checked({up, "tensor.CPU.alloc () -> (%5:tensor<[4294967296], Float32, CPU>)",
                   "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%5) -> "
                   "(%6:tensor<[4294967297], Float32, CPU>)"}) ==
          Lines{"4:1 MIR0416 parameter '@up.weight' is tensor<[3, 4], Float32, CPU>, "
                "'linalg.LinearOp' needs [4294967297, 4294967296]"});
  }

  TEST_CASE("weight_c3: MIR0416 a parameter of other extents where not all are known") {
    const auto found = [](const std::string& in, const std::string& out, const char* shape) {
      return verified(with_init("@main [mir_version:1] (%x:tensor<[1, " + in +
                                "], Float32, CPU>) -> () {\ntensor.CPU.register () -> (%w:tensor<" +
                                shape + ", Float32, CPU>[@up.weight])[symbol:up.weight]\n" +
                                "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%x) -> "
                                "(%y:tensor<[1, " +
                                out + "], Float32, CPU>)\ncf.ReturnOp () -> ()\n}\n"));
    };
    CHECK(found("$S", "8", "[4, 8]") ==
          Lines{"3:1 MIR0416 parameter '@up.weight' is tensor<[4, 8], Float32, CPU>, "
                "'linalg.LinearOp' needs [8, ?]"});
    CHECK(found("3", "?", "[4, 8]") ==
          Lines{"3:1 MIR0416 parameter '@up.weight' is tensor<[4, 8], Float32, CPU>, "
                "'linalg.LinearOp' needs [?, 3]"});
    CHECK(found("$S", "4", "[4, 8]") == Lines{});
    CHECK(found("8", "?", "[4, 8]") == Lines{});
    CHECK(found("$S", "8", "[32]") == Lines{});
  }

  TEST_CASE("view_c2: MIR0315 a shape whose element count overflows is not an unknown one") {
    const auto found = [](const std::string& op) {
      return verified(
          "@main [mir_version:1] (%0:tensor<[4611686018427387904*$S, 4], Float32, "
          "CPU>) -> () {\nlinalg.CPU." +
          op + " (%0) -> (%1:tensor<[?, 4], Float32, CPU>)\ncf.ReturnOp () -> ()\n}\n");
    };
    const std::string begin =
        "2:1 MIR0315 the element count of [4611686018427387904*$S, 4], a shape of '";
    CHECK(found("ViewOp [to_shape:[-1, 4]]") == Lines{begin + "ViewOp', does not fit 63 bits"});
    CHECK(found("ReshapeOp [shape:[4611686018427387904*$S, 4]]") ==
          Lines{begin + "ReshapeOp', does not fit 63 bits"});
  }

  TEST_CASE("weight_c4: MIR0502 a complex parameter that an operation computes with") {
    const auto table = [](const std::string& dtype) {
      return "tensor.CPU.register () -> (%7:tensor<[3, 4], " + dtype +
             ", CPU>[@up.weight])[symbol:up.weight]";
    };
    const std::string product =
        "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%0) -> (%1:tensor<[2, 3], Float32, CPU>)";
    for (const std::string dtype : {"Bool", "Int64", "Float8E4M3"}) {
      CHECK(checked({table(dtype), product}) == Lines{});
    }
    CHECK(checked({table("ComplexFP64"), product}) ==
          Lines{"3:1 MIR0502 parameter '@up.weight' is tensor<[3, 4], ComplexFP64, CPU>, "
                "'linalg.LinearOp' takes real numbers"});
  }

  TEST_CASE("attribute_c3: MIR0312 an attribute of another kind than its row says") {
    CHECK(
        checked({"linalg.CPU.TransposeOp [dim0:0, dim1:one] (%0) -> (%1:tensor<[4, 2], Float32, "
                 "CPU>)"}) ==
        Lines{"2:38 MIR0312 attribute 'dim1' of 'linalg.TransposeOp' is one, expected an integer"});
    CHECK(
        checked(
            {"linalg.CPU.CastTypeOp [dtype:NoSuchType] (%0) -> (%1:tensor<[2, 4], Float16, CPU>)"})
            .size() == 1);
    CHECK(checked({"linalg.CPU.ViewOp [to_shape:[8, x]] (%0) -> (%1:tensor<[8], Float32, CPU>)"})
              .size() == 1);
  }

  TEST_CASE("attribute_c5: MIR0504 an attribute outside of the choices or the range of its row") {
    IRContext context;
    register_builtin_dialects(context);
    const std::vector<std::string_view> modes = {"up", "down"};
    REQUIRE(context.add_dialect(
        {.name = "my",
         .ops = {{.row = {.name = "Op"},
                  .attributes = {
                      {.name = "mode", .type = AttrType::kString, .choices = modes},
                      {.name = "count", .type = AttrType::kInt, .range = {.low = 1, .high = 4}},
                      {.name = "most", .type = AttrType::kFloat, .range = {.high = 0.5}},
                      {.name = "sizes", .type = AttrType::kInts, .range = {.low = 1}}}}}}));
    const auto found = [&](const std::string& attributes) {
      Diagnostics diagnostics(0);
      const SourceFile& file = *context.sources().add(
          "t", "@m [mir_version:1] () -> () {\nmy.Op () -> ()[" + attributes + "]\n}\n");
      const auto modules = read_modules(file, context, diagnostics);
      verify(*modules.front(), diagnostics);
      return lines_of(diagnostics, context);
    };
    CHECK(found("mode:up, count:1, most:0.5, sizes:[1, 2]") == Lines{});
    CHECK(found("mode:\"down\", count:4, most:-3, sizes:[]") == Lines{});
    CHECK(found("mode:left") ==
          Lines{"2:21 MIR0504 attribute 'mode' of 'my.Op' is left, expected one of 'up', 'down'"});
    CHECK(found("mode:3") ==
          Lines{"2:21 MIR0312 attribute 'mode' of 'my.Op' is 3, expected one of 'up', 'down'"});
    CHECK(
        found("count:0, most:0.75") ==
        Lines{
            "2:22 MIR0504 attribute 'count' of 'my.Op' is 0, expected an integer from 1 to 4",
            "2:30 MIR0504 attribute 'most' of 'my.Op' is 0.75, expected a number of at most 0.5"});
    CHECK(found("count:5").size() == 1);
    CHECK(
        found("sizes:[2, 0]") ==
        Lines{"2:22 MIR0504 attribute 'sizes' of 'my.Op' is [2, 0], expected an array of integers "
              "of at least 1"});
  }

  TEST_CASE("ssa_c3: MIR0417 a value that is used where its region is not seen") {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    Module& module = context.create_module();
    Rewriter(module).set_version(1);
    const TensorType* type = context.tensor(std::vector{Dim(2)}, DType::kFloat32);
    Builder builder(module, diagnostics, std::vector<const Type*>{type});
    Value* outer = linalg::SiLU::build(builder, &module.body().only_block().arguments()[0]);
    builder.subgraph("f", std::vector<const Type*>{type});
    Value* inner = linalg::SiLU::build(builder, outer);  // graphs are isolated
    builder.return_op(std::vector{inner});
    builder.set_insertion_point_to_end(module.body().only_block());
    linalg::Neg::build(builder, inner);  // and what is inside stays there
    builder.return_op({});
    REQUIRE_FALSE(diagnostics.has_errors());
    CHECK_FALSE(verify(module, diagnostics));
    CHECK(
        lines_of(diagnostics, context) ==
        Lines{
            "- MIR0417 operand 0 of 'linalg.SiLUOp' belongs to a region that is not seen from here",
            "- MIR0417 operand 0 of 'linalg.NegOp' belongs to a region that is not seen from "
            "here"});
  }

  TEST_CASE("every problem is reported, not only the first") {
    CHECK(checked({"my.Op () -> ()", "linalg.CPU.SiLUOp [x:1] (%0) -> ()",
                   "graph.CallGraphOp @g () -> ()"})
              .size() == 4);
  }

  TEST_CASE("verification changes nothing") {
    Reading reading(
        module_of({graph("g"), "graph.CallGraphOp @g (%0) -> (%1:tensor<[2, 4], Float32, CPU>)",
                   "cf.ReturnOp (%1) -> ()"},
                  "%1:tensor<[2, 4], Float32, CPU>"));
    const std::string before = print(reading.module());
    Diagnostics diagnostics;
    CHECK(verify(reading.module(), diagnostics));
    CHECK(print(reading.module()) == before);
    for (Op* op : mir::test::ops_of(reading.module().body())) CHECK_FALSE(op->is_modified());
  }

  TEST_CASE("what is found in the dumps that upstream was made to print") {
    const std::map<std::string, Lines> expected = {
        {"synth_attrs.mir",
         {"2:131 MIR0201 expected ']' or ',', found attribute key '\"quotes\"'",
          "4:138 MIR0201 expected ']' or ',', found attribute key '\"quotes\"'"}},
        {"synth_custom_op.mir",
         {"2:5 MIR0400 warning operation 'linalg.CPU.MyCustomOp' is not known",
          "3:5 MIR0400 warning operation 'linalg.CPU.MyCustomOp' is not known"}},
        {"synth_dims.mir", {"2:5 MIR0403 'cf.ReturnOp' must be the last operation of its block"}},
        {"synth_nested.mir", {"6:21 MIR0203 expected an operation or '}', found word 'not'"}},
        {"synth_quant.mir", {}},
    };
    for (const std::string& path : corpus()) {
      const auto entry = expected.find(path.substr(path.rfind('/') + 1));
      if (path.find("synth_") == path.npos) continue;
      CAPTURE(path);
      REQUIRE(entry != expected.end());
      std::ifstream in(path, std::ios::binary);
      Reading reading({std::istreambuf_iterator<char>(in), {}});
      for (const Module* module : reading.modules) verify(*module, reading.diagnostics);
      CHECK(reading.errors() == entry->second);
    }
  }

  TEST_CASE("no dump has an error as a dump, and none stops the portable level") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (path.find("synth_") != path.npos) continue;  // forms that no model reaches
      std::ifstream in(path, std::ios::binary);
      Reading reading({std::istreambuf_iterator<char>(in), {}});
      VerifyOptions portable;
      portable.level = VerifyLevel::kPortable;
      for (const Module* module : reading.modules) {
        Diagnostics as_dump, as_portable;
        CHECK(verify(*module, as_dump));
        verify(*module, as_portable, portable);
      }
    }
  }
}
