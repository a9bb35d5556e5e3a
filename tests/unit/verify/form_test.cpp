// What the portable form promises of parts, places, values and names.
#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// A portable module with graph `@init` that holds these lines, then the ops, then a return.
Lines registered(const Lines& registers, Lines ops = {}) {
  Lines all = {"graph.SubGraphOp @init <CPU> {", "() -> () {"};
  all.insert(all.end(), registers.begin(), registers.end());
  all.insert(all.end(), {"}", "}"});
  all.insert(all.end(), ops.begin(), ops.end());
  return checked(all);
}

const std::string kRegister =
    "tensor.CPU.register () -> (%7:tensor<[2, 4], Float32, CPU>[@w])[symbol:w]";

}  // namespace

TEST_SUITE("form") {
  TEST_CASE("op_c4: MIR0418 parts that an op does not take") {
    CHECK(checked({"linalg.CPU.SiLUOp @x (%0) -> (%1)"}) ==
          Lines{"2:1 MIR0418 'linalg.SiLUOp' takes no symbol '@x'"});
    CHECK(checked({"linalg.CPU.SiLUOp <foo> (%0) -> (%1)"}) ==
          Lines{"2:1 MIR0418 'linalg.SiLUOp' takes no '<foo>'"});
    CHECK(checked({"cf.ReturnOp @x () -> ()"}).front() ==
          "2:1 MIR0403 'cf.ReturnOp' must be the last operation of its block");
    CHECK(verified("@main [mir_version:1] () -> () {\naddr:0x10 dbg.HintsOp () -> ()\n}\n") ==
          Lines{"2:11 MIR0418 'dbg.HintsOp' takes no address"});
    CHECK(checked({"linalg.CPU.SiLUOp <name=\"x\"> (%0) -> (%1)"}) == Lines{});
    CHECK(verified("@main () -> () { linalg.CPU.SiLUOp @x <foo> (%0:tensor<[2], Float32, CPU>) -> "
                   "(%1:tensor<[2], Float32, CPU>) }\n") == Lines{});
  }

  TEST_CASE("op_c5: MIR0419 instructions and fragments stand where they are read") {
    CHECK(checked({"prog.ret () -> ()"}) ==
          Lines{"2:1 MIR0419 'prog.ret' must stand in a fragment"});
    CHECK(
        checked({"graph.SubGraphOp @g <CPU> {", "() -> () {", "prog.fragment @code <CPU> <code> {",
                 "prog.ret () -> ()", "}", "cf.ReturnOp () -> ()", "}", "}"}) ==
        Lines{"4:1 MIR0419 'prog.fragment' must stand at the top of the module"});
  }

  TEST_CASE("op_c7: MIR0419 a graph in the region of another op") {
    const auto inside = [](const std::string& head, const std::string& end) {
      return verified("@main [mir_version:2] (%c:tensor<[1], Bool, CPU>) -> () {\n" + head +
                      "graph.SubGraphOp @g <CPU> {\n() -> () {\ncf.ReturnOp () -> ()\n}\n}\n" +
                      end + "graph.CallGraphOp @g () -> ()\ncf.ReturnOp () -> ()\n}\n");
    };
    CHECK(inside("cf.IfOp (%c) -> () {\n() -> () {\n",
                 "cf.YieldOp () -> ()\n}\n() -> () {\ncf.YieldOp () -> ()\n}\n}\n") ==
          Lines{"4:1 MIR0419 'graph.SubGraphOp' must be directly inside the module or a graph, not "
                "in 'cf.IfOp'"});
    CHECK(inside("graph.SubGraphOp @f <CPU> {\n() -> () {\n",
                 "cf.ReturnOp () -> ()\n}\n}\ngraph.CallGraphOp @f () -> ()\n") == Lines{});
    CHECK(inside("", "") == Lines{});
    CHECK(verified("@main () -> () {\nmy.Wrap () -> () {\ngraph.SubGraphOp @g <CPU> {\n() -> () "
                   "{\n}\n}\n}\ngraph.CallGraphOp @g () -> ()\n}\n")
              .size() == 1);  // an unknown op; its region may have a graph in a dump
  }

  TEST_CASE("op_c6: MIR0428 a device that dumps do not name, once for each") {
    CHECK(checked({"linalg.cpu.SiLUOp (%0) -> (%1)", "linalg.cpu.SiLUOp (%1) -> (%2)"}) ==
          Lines{"2:8 MIR0428 warning device 'cpu' is not known"});
    CHECK(
        checked({"linalg.CPU.CastTypeOp [dtype:Float16] (%0) -> (%1:tensor<[2, 4], Float16, GPU>)"})
            .back() == "2:75 MIR0428 warning device 'GPU' is not known");
    CHECK(checked({"graph.SubGraphOp @g <Npu> {", "() -> () {", "}", "}"}) ==
          Lines{"2:22 MIR0428 warning device 'Npu' is not known"});
    CHECK(checked({"linalg.kQNN.SiLUOp (%0) -> (%1)"}) == Lines{});
  }

  TEST_CASE("signature_c3: MIR0405 a graph without signature") {
    CHECK(checked({"graph.SubGraphOp @g <CPU> {", "cf.ReturnOp () -> ()", "}"}) ==
          Lines{"2:1 MIR0405 graph '@g' states no '(inputs) -> (outputs)'"});
  }

  TEST_CASE("signature_c4: MIR0405 a graph that is never called has inputs or results") {
    const std::string type = "tensor<[2], Float32, CPU>";
    CHECK(checked({"graph.SubGraphOp @deinit <CPU> {", "(%5:" + type + ") -> () {",
                   "cf.ReturnOp () -> ()", "}", "}"}) ==
          Lines{"2:1 MIR0405 graph '@deinit' is never called and must have the signature '() -> "
                "()'"});
    CHECK(checked({"graph.SubGraphOp @deinit <CPU> {", "() -> () {", "}", "}"}) == Lines{});
    CHECK(checked({"graph.SubGraphOp @f <CPU> {", "(%5:" + type + ") -> () {",
                   "cf.ReturnOp () -> ()", "}", "}"}) == Lines{});
  }

  TEST_CASE("signature_c5: MIR0405 a result of a signature says more than the returned value") {
    const auto returns = [](const std::string& parts, const std::string& value) {
      const std::string type = ":tensor<[2, 4], Float32, CPU>";
      return verified("@main [mir_version:1] (%0" + type + ") -> (" + value + type + parts +
                      ") {\ncf.ReturnOp (%0) -> ()\n}\n");
    };
    CHECK(returns("[@w]", "%0") ==
          Lines{"1:1 MIR0405 result 0 is declared with '[@w]', the returned value is not"});
    CHECK(returns("[constant:[1]]", "%0") ==
          Lines{"1:1 MIR0405 result 0 is declared with 'constant:[1]', the returned value is not"});
    CHECK(returns("[foo:1]", "%9") ==
          Lines{"1:1 MIR0405 result 0 is declared with 'foo:1', the returned value is not"});
    CHECK(returns("", "%0") == Lines{});
    CHECK(registered(
              {kRegister},
              {"graph.SubGraphOp @f <CPU> {", "() -> (%5:tensor<[2, 4], Float32, CPU>[@w]) {",
               "cf.ReturnOp (%5:tensor<[2, 4], Float32, CPU>[@w]) -> ()", "}", "}"}) == Lines{});
  }

  TEST_CASE("signature_c6: MIR0405 a region that is no graph has ports") {
    const auto found = [](const std::string& port) {
      const std::string type = ":tensor<[2], Float32, CPU>";
      return verified("@main [mir_version:2] (%x" + type + ") -> (%y" + type +
                      "[out]) {\ngraph.FusedOp () -> (%y" + type + ") {\n() -> (%z" + type + port +
                      ") {\nlinalg.CPU.NegOp(%x) -> (%z" + type +
                      ")\ncf.YieldOp (%z) -> ()\n}\n}\ncf.ReturnOp (%y) -> ()\n}\n");
    };
    CHECK(found("[q]") ==
          Lines{"2:1 MIR0405 a region of 'graph.FusedOp' has no ports, only modules "
                "and graphs do"});
    CHECK(found("") == Lines{});
  }

  TEST_CASE("attribute_c4: MIR0312 a mark of another kind, on an op or a value") {
    CHECK(checked({"linalg.CPU.SiLUOp [using_qnn:3] (%0) -> (%1)"}) ==
          Lines{"2:30 MIR0312 attribute 'using_qnn' of 'linalg.SiLUOp' is 3, expected 'true' or "
                "'false'"});
    CHECK(checked({"linalg.CPU.SiLUOp (%0) -> (%1:tensor<[2, 4], Float32, CPU>[symbol:{}])"}) ==
          Lines{"2:67 MIR0312 attribute 'symbol' of '%1' is {}, expected a string"});
    CHECK(checked({"linalg.CPU.SiLUOp [quant_recipe:\"per channel\"] (%0) -> (%1)"}) ==
          Lines{"2:33 MIR0312 attribute 'quant_recipe' of 'linalg.SiLUOp' is \"per channel\", "
                "expected a QuantSpec or a QuantAnnotation"});
    // The same op with a sound mark, after one that was found sound without it.
    CHECK(checked({"linalg.CPU.SiLUOp (%0) -> (%1)",
                   "linalg.CPU.SiLUOp [using_qnn:true] (%0) -> "
                   "(%2)",
                   "linalg.CPU.SiLUOp [using_qnn:0] (%0) -> (%3)"})
              .size() == 1);
  }

  TEST_CASE("attribute_c1: MIR0408 an attribute that the module does not have") {
    CHECK(verified("@main [mir_version:1, frobnicate:2] () -> () {\n}\n") ==
          Lines{"1:23 MIR0408 'builtin.ModuleOp' has no attribute 'frobnicate'"});
    CHECK(verified("@main [mir_version:1, origin:{\"by\":\"hand\"}] () -> () {\n}\n") == Lines{});
  }

  TEST_CASE("attribute_c1: MIR0408 an attribute that no value has") {
    CHECK(checked({"linalg.CPU.SiLUOp (%0) -> (%1[foo:1])"}) ==
          Lines{"2:31 MIR0408 value '%1' has an unknown attribute 'foo'"});
    CHECK(checked({"linalg.CPU.AddOp (%0, %5:tensor<[1], Float32, CPU>[constant:[1], foo:1]) -> "
                   "(%1)"}) == Lines{"2:66 MIR0408 value '%5' has an unknown attribute 'foo'"});
    CHECK(verified("@main [mir_version:1] (%0:tensor<[1], Float32, CPU>[foo:1]) -> () {\n"
                   "cf.ReturnOp () -> ()\n}\n") ==
          Lines{"1:53 MIR0408 value '%0' has an unknown attribute 'foo'"});
    CHECK(checked({"linalg.CPU.SiLUOp (%0) -> (%1[qnn_graph_outputs:true, symbol:x])"}) == Lines{});
    CHECK(verified("@main () -> () { linalg.CPU.SiLUOp (%0:tensor<[2], Float32, CPU>[foo:1]) -> "
                   "(%1:tensor<[2], Float32, CPU>) }\n") == Lines{});
  }

  TEST_CASE("quant_c8: MIR0843 scales of values that are not quantised, or that are no scales") {
    const auto input = [](const std::string& type, const std::string& attributes) {
      return verified("@main [mir_version:1] (%0:tensor<[4], " + type + ", CPU>[" + attributes +
                      "]) -> () {\ncf.ReturnOp () -> ()\n}\n");
    };
    CHECK(input("Float32", "quant_scale:0.5") ==
          Lines{"1:53 MIR0843 attribute 'quant_scale' of '%0' has no meaning, because tensor<[4], "
                "Float32, CPU> is not quantised"});
    CHECK(input("Int32", "quant_source:x") ==
          Lines{"1:51 MIR0843 attribute 'quant_source' of '%0' has no meaning, because tensor<[4], "
                "Int32, CPU> is not quantised"});
    CHECK(input("Int8PerTensor", "quant_scale:[0.5, 1e-3], quant_zero_point:[-3, 4]") == Lines{});
    CHECK(input("Int8",
                "quant_scale:1, quant_recipe:QuantSpec(SymPerTensor(quant_min: -128, "
                "quant_max: 127, quant_to_type: Int8), uuid=3)") == Lines{});
    for (const std::string scale : {"abc", "-1", "0", "1e39", "1e-60", "inf", "[1, -1]", "[[1]]"}) {
      CHECK(input("Int8PerTensor", "quant_scale:" + scale) ==
            Lines{"1:71 MIR0843 attribute 'quant_scale' of '%0' is " + scale +
                  ", expected a positive Float32 number, or a list of them"});
    }
    for (const std::string zero : {"abc", "1.5", "2147483648", "nan"}) {
      CHECK(input("Int8PerTensor", "quant_zero_point:" + zero) ==
            Lines{"1:76 MIR0843 attribute 'quant_zero_point' of '%0' is " + zero +
                  ", expected a whole number of 32 bits, or a list of them"});
    }
  }

  TEST_CASE("type_c7: MIR0814 a constant on a value that something defines") {
    CHECK(
        checked({"linalg.CPU.SiLUOp (%0) -> (%1:tensor<[2, 4], Float32, CPU>[constant:[1.0]])"}) ==
        Lines{"2:1 MIR0814 value '%1' is a result, so it must not have a 'constant'"});
    CHECK(verified("@main [mir_version:1] (%0:tensor<[1], Float32, CPU>[constant:[1.0]]) -> () {\n"
                   "cf.ReturnOp () -> ()\n}\n") ==
          Lines{"1:1 MIR0814 value '%0' is an argument, so it must not have a 'constant'"});
    CHECK(checked({"linalg.CPU.SiLUOp (%9:tensor<[1], Float32, CPU>[constant:[1.0]]) -> (%1)"}) ==
          Lines{});
  }

  TEST_CASE("symbol_c2: MIR0427 a dimension symbol that nothing binds, once for each") {
    const std::string value = "%9:tensor<[$T, 4], Float32, CPU>[@w]";
    CHECK(checked({"tensor.CPU.register () -> (" + value + ")",
                   "linalg.CPU.ConcatOp [dim:0] (%0, " + value + ") -> (%1)",
                   "linalg.CPU.SiLUOp (%1) -> (%2)"}) ==
          Lines{"2:43 MIR0427 no input and no cache binds '$T'"});
    CHECK(checked({"linalg.CPU.SliceOp [slice_indices:[{\"start\":0,\"end\":$n,\"step\":1}, all]] "
                   "(%0) -> "
                   "(%1:tensor<[?, 4], Float32, CPU>)"})
              .at(1) == "2:1 MIR0427 no input and no cache binds '$n'");
    CHECK(
        verified("@main [mir_version:1] (%0:tensor<[2*$T, 4], Float32, CPU>) -> () {\n"
                 "linalg.CPU.ViewOp [to_shape:[$T, 8]] (%0) -> (%1)\ncf.ReturnOp () -> ()\n}\n") ==
        Lines{});
    // A cache binds its length.
    CHECK(verified("@main [mir_version:1] (%0:tensor<[1, 2, 3, 4], Float32, CPU>) -> () {\n"
                   "linalg.CPU.KVCacheOp [cache:@c, q_head:2, kv_head:2, head_dim:4, past:$past] "
                   "(%0, %0) -> (%1, %2)\ncf.ReturnOp () -> ()\n}\n") == Lines{});
  }

  TEST_CASE("call_c6: MIR0412 a call of a graph that declares") {
    CHECK(registered({}, {"graph.CallGraphOp @init () -> ()"}) ==
          Lines{"6:19 MIR0412 graph '@init' must not be called"});
  }

  TEST_CASE("register_c1: MIR0419 a register outside @init") {
    CHECK(verified("@main [mir_version:1] () -> () {\n" + kRegister + "\n}\n") ==
          Lines{"2:1 MIR0419 'tensor.register' must stand in graph '@init'"});
    CHECK(verified("@main [mir_version:1] () -> () {\ngraph.SubGraphOp @weights <CPU> {\n() -> () "
                   "{\n" +
                   kRegister + "\n}\n}\n}\n") ==
          Lines{"4:1 MIR0419 'tensor.register' must stand in graph '@init'"});
    CHECK(registered({kRegister}) == Lines{});
  }

  TEST_CASE("register_c2: MIR0409 a register that does not name its parameter") {
    CHECK(
        registered({"tensor.CPU.register () -> (%7:tensor<[2, 4], Float32, CPU>)"}) ==
        Lines{"4:1 MIR0409 'tensor.register' needs the parameter's name, '[@name]' on its result"});
    CHECK(
        registered({"tensor.CPU.register () -> (%7:tensor<[2, 4], Float32, CPU>[@w])[symbol:v]"}) ==
        Lines{"4:72 MIR0409 the result of 'tensor.register' is named '@w', its attribute 'symbol' "
              "says 'v'"});
  }

  TEST_CASE("register_c3: MIR0419 an op in a graph that is never called") {
    CHECK(registered({kRegister, "linalg.CPU.NegOp (%7) -> (%8)"}) ==
          Lines{"5:1 MIR0419 'linalg.NegOp' must not be in graph '@init', which is never called"});
    CHECK(registered({"tensor.CPU.alloc () -> (%8:tensor<[2], Float32, CPU>)"}).size() == 1);
    CHECK(registered({kRegister, "dbg.CommentOp () -> () [text:\"weights\"]"}) == Lines{});
    CHECK(checked({"graph.SubGraphOp @deinit <CPU> {", "() -> () {",
                   "graph.CallGraphOp @deinit () -> ()", "cf.ReturnOp () -> ()", "}", "}"})
              .size() == 3);
    // A module of that name has ops.
    CHECK(verified("@init [mir_version:1] () -> () {\ndbg.HintsOp () -> ()\n"
                   "linalg.CPU.CloneOp (%1:tensor<[1], Int8, CPU>[constant:[1]]) -> (%2)\n}\n") ==
          Lines{});
  }

  TEST_CASE("register_c4: MIR0504 a part of a stored tensor with other extents") {
    const auto found = [](const std::string& attributes) {
      return registered(
          {"tensor.CPU.register () -> (%7:tensor<[2, 4], Float32, CPU>[@w])[symbol:w, " +
           attributes + "]"});
    };
    CHECK(found("stored:qkv, stored_rows:[3, 5], stored_heads:1") == Lines{});
    const auto rows = [](const std::string& text) {
      return Lines{
          "4:87 MIR0504 'stored_rows' of 'tensor.register' is " + text +
          ", expected the first row and the end of as many rows as tensor<[2, 4], Float32, "
          "CPU> has"};
    };
    CHECK(found("stored_rows:[3, 6]") == rows("[3, 6]"));
    CHECK(found("stored_rows:[3]") == rows("[3]"));
    CHECK(found("stored_heads:2") ==
          Lines{"4:88 MIR0504 'stored_heads' of 'tensor.register' is 2, expected a number of heads "
                "with an even number of rows of tensor<[2, 4], Float32, CPU> each"});
    CHECK(found("stored_heads:0").size() == 1);
  }

  TEST_CASE("param_c4: MIR0418 a parameter's name on an argument or the result of an op") {
    // Neither '@w' nor 'lin.weight' becomes a parameter.
    CHECK(checked({"linalg.CPU.NegOp (%0) -> (%1[@w])",
                   "linalg.CPU.AddOp (%0, %5:tensor<[2, 4], Float32, CPU>[@w]) -> (%2)",
                   "linalg.CPU.NegOp (%0) -> (%3[@lin.weight])",
                   "linalg.CPU.LinearOp <name=\"lin\"> [bias:false] (%0) -> "
                   "(%4:tensor<[2, 2], Float32, CPU>)"}) ==
          Lines{"2:1 MIR0418 value '%1' is a result, so it must not have the name of a parameter, "
                "'[@w]'",
                "3:55 MIR0415 no parameter '@w' is registered",
                "4:1 MIR0418 value '%3' is a result, so it must not have the name of a parameter, "
                "'[@lin.weight]'",
                "5:21 MIR0415 no parameter '@lin.weight' is registered"});
    CHECK(verified("@main [mir_version:1] (%0:tensor<[1], Float32, CPU>[@w]) -> () {\n"
                   "cf.ReturnOp () -> ()\n}\n") ==
          Lines{"1:1 MIR0418 value '%0' is an argument, so it must not have the name of a "
                "parameter, '[@w]'"});
  }

  TEST_CASE("symbol_c3: MIR0406 an op with two names") {
    const Lines graph = {"graph.SubGraphOp @f <CPU> [symbol:g] {", "() -> () {",
                         "cf.ReturnOp () -> ()", "}", "}"};
    CHECK(checked(graph) == Lines{"2:35 MIR0406 'graph.SubGraphOp' is named '@f', its attribute "
                                  "'symbol' is 'g'"});
    CHECK(verified("@main () -> () {\ngraph.SubGraphOp @f <CPU> [symbol:g] {\n() -> () {\n}\n}\n}"
                   "\n") == Lines{"2:35 MIR0406 warning 'graph.SubGraphOp' is named '@f', its "
                                  "attribute 'symbol' is 'g'"});
    CHECK(verified("@main [mir_version:1] () -> () {\nprog.fragment @table <CPU> <table> {\n"
                   "prog.value_symbol () -> (%1:tensor<[1], Int8, CPU>[@v])[symbol:w]\n}\n}\n") ==
          Lines{"3:64 MIR0406 'prog.value_symbol' is named '@v', its attribute 'symbol' is 'w'"});
    CHECK(checked({"graph.SubGraphOp @f <CPU> [symbol:f] {", "() -> () {", "}", "}"}) == Lines{});
  }

  TEST_CASE("param_c2: MIR0415 a mention of a parameter that nothing registers") {
    CHECK(checked({"linalg.CPU.AddOp (%0, %5:tensor<[2, 4], Float32, CPU>[@nobody]) -> (%1)"}) ==
          Lines{"2:55 MIR0415 no parameter '@nobody' is registered"});
    CHECK(registered({kRegister}, {"linalg.CPU.AddOp (%0, %5:tensor<[2, 4], Float32, CPU>[@w]) -> "
                                   "(%1)"}) == Lines{});
  }

  TEST_CASE("param_c3: MIR0309 a mention of a parameter with another type") {
    CHECK(registered({kRegister},
                     {"linalg.CPU.AddOp (%0, %5:tensor<[4], Float32, CPU>[@w]) -> (%1)"}) ==
          Lines{"7:23 MIR0309 parameter '@w' is used as tensor<[4], Float32, CPU>, registered as "
                "tensor<[2, 4], Float32, CPU>"});
  }

  TEST_CASE("cache_c1: MIR0429 a second step that does not begin where the first ended") {
    const auto step = [](const std::string& cache, const std::string& past, const char* results) {
      return "linalg.CPU.KVCacheOp [cache:@" + cache +
             ", q_head:1, kv_head:1, head_dim:4, past:" + past + "] (%k, %k) -> " + results;
    };
    const auto steps = [&](const std::string& cache, const std::string& past) {
      return verified("@main [mir_version:1] (%k:tensor<[1, 1, $S, 4], Float32, CPU>) -> () {\n" +
                      step("c", "$past", "(%1, %2)") + "\n" + step(cache, past, "(%3, %4)") +
                      "\ncf.ReturnOp () -> ()\n}\n");
    };
    CHECK(steps("c", "$past") ==
          Lines{"3:1 MIR0429 cache '@c' holds $S+$past tokens when this step begins, 'past' says "
                "$past"});
    CHECK(steps("c", "$past+$S") == Lines{});
    CHECK(steps("d", "$past") == Lines{});
    // Without operands or results an op is no step; with some of them it is one.
    const auto after = [&](const std::string& first) {
      Lines codes;
      for (const std::string& each : verified(
               "@main [mir_version:1] (%k:tensor<[1, 1, $S, 4], Float32, CPU>) -> () {\n"
               "linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:4, past:$past] " +
               first + "\n" + step("c", "$past", "(%3, %4)") + "\ncf.ReturnOp () -> ()\n}\n")) {
        codes.push_back(each.substr(0, each.find(' ', each.find(' ') + 1)));
      }
      return codes;
    };
    CHECK(after("(%k, %k) -> (%1, %2)") == Lines{"3:1 MIR0429"});
    const std::string typed = ":tensor<[1, 1, $S+$past, 4], Float32, CPU>";
    const std::string results = "(%1" + typed + ", %2" + typed + ")";
    CHECK(after("() -> " + results) == Lines{"2:1 MIR0401"});
    CHECK(after("(%k, %k) -> ()") == Lines{"2:1 MIR0401"});
    CHECK(after("(%k) -> " + results) == Lines{"2:1 MIR0401", "3:1 MIR0429"});
    CHECK(after("(%k, %k) -> (%1" + typed + ")") == Lines{"2:1 MIR0401", "3:1 MIR0429"});
  }

  TEST_CASE("cache_c1: MIR0429 steps without 'past', and in graphs that call each other") {
    const std::string type = "tensor<[1, 1, $S+$past, 4], Float32, CPU>";
    const auto step = [&](const std::string& past, const std::string& results) {
      return "linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:4" + past +
             "] (%k, %k) -> " + results + "\n";
    };
    const std::string head =
        "@main [mir_version:1] (%k:tensor<[1, 1, $S, 4], Float32, CPU>) -> () {\n";
    const std::string end = "cf.ReturnOp () -> ()\n}\n";
    const auto claims = [&](const std::string& first, const std::string& second) {
      return verified(head + step("", "(%1:" + first + ", %2:" + first + ")") +
                      step("", "(%3:" + second + ", %4:" + second + ")") + end);
    };
    const std::string twice = "tensor<[1, 1, 2*$S+$past, 4], Float32, CPU>";
    const std::string open = "tensor<[1, 1, ?, 4], Float32, CPU>";
    CHECK(claims(type, type) ==
          Lines{"3:1 MIR0429 cache '@c' holds 2*$S+$past tokens after this step, its result has "
                "$S+$past"});
    CHECK(claims(type, twice) == Lines{});
    CHECK(claims(open, open) == Lines{});
    CHECK(claims(type, open) == Lines{});
    // In a graph, once before its call and once in it; twice by two calls.
    const std::string graph =
        "graph.SubGraphOp @f <CPU> {\n(%k:tensor<[1, 1, $S, 4], Float32, CPU>) "
        "-> () {\n" +
        step(", past:$past", "(%1, %2)") + "cf.ReturnOp () -> ()\n}\n}\n";
    const std::string call = "graph.CallGraphOp @f (%k) -> ()\n";
    const std::string breach =
        "4:1 MIR0429 cache '@c' holds $S+$past tokens when this step begins, 'past' says $past";
    CHECK(verified(head + graph + call + end) == Lines{});
    CHECK(verified(head + graph + call + call + end) == Lines{breach});
    CHECK(verified(head + graph + step(", past:$past", "(%1, %2)") + call + end) == Lines{breach});
    CHECK(verified(head + graph + call + step(", past:$S+$past", "(%1, %2)") + end) == Lines{});
    CHECK(verified(head + graph + call + step(", past:$past", "(%1, %2)") + end).size() == 1);
  }

  TEST_CASE("cache_c1: MIR0429 a symbol as 'past' of a step behind regions that may append") {
    int steps = 0;
    const auto step = [&](const std::string& past, const std::string& cache = "c") {
      const std::string number = std::to_string(++steps);
      return "linalg.CPU.KVCacheOp [cache:@" + cache + ", q_head:1, kv_head:1, head_dim:4" + past +
             "] (%k, %k) -> (%K" + number + ", %V" + number + ")\n";
    };
    const std::string head =
        "@main [mir_version:2] (%k:tensor<[1, 1, 1, 4], Float32, CPU>, %c:tensor<[1], Bool, CPU>, "
        "%n:tensor<[1], Int32, CPU>) -> () {\n";
    const std::string end = "cf.ReturnOp () -> ()\n}\n";
    const auto loop = [](const std::string& body) {
      return "cf.ForOp (%n, %n, %n) -> () {\n(%i:tensor<[1], Int32, CPU>) -> () {\n" + body +
             "cf.YieldOp () -> ()\n}\n}\n";
    };
    const auto condition = [](const std::string& body) {
      return "cf.IfOp (%c) -> () {\n() -> () {\ncf.YieldOp () -> ()\n}\n() -> () {\n" + body +
             "cf.YieldOp () -> ()\n}\n}\n";
    };
    const auto breach = [](int line) {
      return Lines{std::to_string(line) +
                   ":1 MIR0429 'past' says $past, the length of cache '@c' before the run, but a "
                   "condition, loop or branch above may append to it"};
    };
    const std::string past = step(", past:$past"), open = step("");
    const std::string again = step(", past:$past");
    CHECK(verified(head + loop(open) + past + end) == breach(8));
    CHECK(verified(head + loop(past) + past + end) == breach(8));
    CHECK(verified(head + condition(open) + past + end) == breach(11));
    CHECK(verified(head + condition(loop(past)) + past + end) == breach(16));
    // Without `past`, with a number, on another cache, or in a region with symbols of its own.
    CHECK(verified(head + loop(open) + open + end) == Lines{});
    CHECK(verified(head + loop(open) + step(", past:3") + end) == Lines{});
    CHECK(verified(head + loop(step("", "d")) + past + end) == Lines{});
    CHECK(verified(head + loop(open) + loop(past) + end) == Lines{});
    CHECK(verified(head + past + loop(past) + end) == Lines{});
    // What a region leaves as it was is still known.
    CHECK(verified(head + past + loop(step("", "d")) + again + end).size() == 1);
    CHECK(verified(head + past + loop(step("", "d")) + step(", past:$past+1") + end) == Lines{});
    // Of a graph that is called.
    const std::string graph =
        "graph.SubGraphOp @f <CPU> {\n(%k:tensor<[1, 1, 1, 4], Float32, "
        "CPU>, %n:tensor<[1], Int32, CPU>) -> () {\n" +
        loop(open) + "cf.ReturnOp () -> ()\n}\n}\n";
    const std::string call = "graph.CallGraphOp @f (%k, %n) -> ()\n";
    CHECK(verified(head + graph + call + past + end) == breach(14));
    CHECK(verified(head + graph + call + open + end) == Lines{});
  }
}
