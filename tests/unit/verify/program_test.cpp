// The program machine, without running it.
#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

constexpr const char* kX = "%1:tensor<[2], Float32, CPU>";
constexpr const char* kY = "%2:tensor<[2], Float32, CPU>";

/// A dump of one code fragment; the ops begin on line 3. Ops that begin with `addr` bring their
/// addresses along.
std::string program_of(const Lines& ops, const Lines& table = {}) {
  std::string text = "@main () -> () {\nprog.fragment @code <CPU> <code> {\n";
  for (const std::string& op : ops) text += op + "\n";
  text += "}\nprog.fragment @table <CPU> <table> {\n";
  for (const std::string& op : table) text += op + "\n";
  return text + "}\n}\n";
}

Lines run(const Lines& ops, const Lines& table = {}) {
  return verified(program_of(ops, table));
}

std::string launch(const std::string& in, const std::string& out,
                   const std::string& attributes = "op_type:SiLU, op_options:null") {
  return "prog.kernel_launch(" + in + ") -> (" + out + ")[" + attributes + "]";
}

const std::string kInput = "prog.bind[type:0, program_uuid:1, input_pos:0]";
const std::string kOutput = "prog.bind[type:1, program_uuid:2, input_pos:0]";

/// A program that is as it should be: %1 in, %2 out.
const Lines kSound = {kInput,
                      "prog.jump m.__entry",
                      kOutput,
                      "prog.exit() -> ()",
                      "prog.label[symbol:m.__entry]",
                      launch(kX, kY),
                      "prog.free(" + std::string(kX) + ") -> ()",
                      "prog.ret"};

/// That program with one line in place of another.
Lines with(std::size_t at, const std::string& line) {
  Lines lines = kSound;
  lines.at(at) = line;
  return run(lines);
}

}  // namespace

TEST_SUITE("program") {
  TEST_CASE("a program that is as it should be has no findings") {
    CHECK(run(kSound) == Lines{});
  }

  TEST_CASE("jump_c1: MIR0440 a jump to a label that does not exist") {
    CHECK(with(1, "prog.jump n.__entry") ==
          Lines{"4:1 MIR0440 no label of the code is named 'n.__entry'"});
  }

  TEST_CASE("jump_c2: MIR0441 an offset that leads elsewhere") {
    const auto numbered = [](const std::string& offset) {
      return run({"addr:0x0 prog.jump m[offset:" + offset + "]", "addr:0x1 prog.exit() -> ()",
                  "addr:0x2 prog.label[symbol:m]", "addr:0x3 prog.ret"});
    };
    CHECK(numbered("2") == Lines{});
    CHECK(numbered("1") ==
          Lines{"3:10 MIR0441 offset 1 does not lead to label 'm', which is 2 away"});
    // Without addresses there is nothing to compare with.
    CHECK(run({"prog.jump m[offset:9]", "prog.exit() -> ()", "prog.label[symbol:m]", "prog.ret"}) ==
          Lines{});
  }

  TEST_CASE("jump_c3: MIR0446 code that jumps to itself") {
    CHECK(run({"prog.jump a", "prog.exit() -> ()", "prog.label[symbol:a]", "prog.jump b",
               "prog.ret", "prog.label[symbol:b]", "prog.jump a", "prog.ret"}) ==
          Lines{"9:1 MIR0446 the code at 'a' jumps to itself"});
    CHECK(run({"prog.jump a", "prog.jump a", "prog.exit() -> ()", "prog.label[symbol:a]",
               "prog.ret"}) == Lines{});
  }

  TEST_CASE("jump_c3: MIR0446 jumps deeper than a thousand are refused") {
    Lines lines = {"prog.jump l0", "prog.exit() -> ()"};
    for (int i = 0; i < 1200; ++i) {
      lines.insert(lines.end(), {"prog.label[symbol:l" + std::to_string(i) + "]",
                                 "prog.jump l" + std::to_string(i + 1), "prog.ret"});
    }
    lines.insert(lines.end(), {"prog.label[symbol:l1200]", "prog.ret"});
    const Lines found = run(lines);
    REQUIRE(found.size() == 1);
    CHECK(found[0] == test::Part{"MIR0446 jumps are nested deeper than 1000"});
  }

  TEST_CASE("ret_c1: MIR0442 a return that no jump led to") {
    CHECK(with(1, "prog.ret") == Lines{"4:1 MIR0442 prog.ret is reached and no jump led here"});
  }

  TEST_CASE("exit_c1: MIR0442 a program that runs past its end, or stops inside a call") {
    CHECK(run({kInput}) ==
          Lines{"3:1 MIR0442 the program runs past its end: no prog.exit stops it"});
    CHECK(run({kInput, "dbg.CommentOp () -> ()[text:\"here\"]"}) ==
          Lines{"4:1 MIR0442 the program runs past its end: no prog.exit stops it"});
    CHECK(with(7, "prog.exit() -> ()") ==
          Lines{"5:1 MIR0443 warning no execution reaches 'prog.bind'",
                "8:1 MIR0452 warning %2 is never freed",
                "10:1 MIR0442 prog.exit is reached 1 calls deep"});
  }

  TEST_CASE("exit_c2: MIR0443 an instruction that no execution reaches") {
    Lines lines = kSound;
    lines.insert(lines.end(), {"prog.label[symbol:n]", "prog.ret"});
    CHECK(run(lines) == Lines{"11:1 MIR0443 warning no execution reaches 'prog.label'"});
  }

  TEST_CASE("bind_c1: MIR0444 inputs that are not bound once each") {
    CHECK(with(0, "prog.bind[type:0, program_uuid:1, input_pos:1]") ==
          Lines{"3:1 MIR0444 input 1 is bound where 0 is expected"});
    Lines lines = kSound;
    lines.insert(lines.begin(), kInput);
    CHECK(run(lines) == Lines{"4:1 MIR0444 input 0 is bound where 1 is expected"});
  }

  TEST_CASE("bind_c2: MIR0444 outputs in any order, once each") {
    CHECK(with(2, "prog.bind[type:1, program_uuid:2, input_pos:3]") ==
          Lines{"5:1 MIR0444 output 3 is bound where 0 is expected"});
    Lines lines = kSound;
    lines.insert(lines.begin() + 2, "prog.bind[type:1, program_uuid:2, input_pos:1]");
    CHECK(run(lines) == Lines{});
  }

  TEST_CASE("bind_c3: MIR0444 a bind of neither an input nor an output") {
    Lines lines = kSound;
    lines.insert(lines.begin() + 1, "prog.bind[type:7, program_uuid:1, input_pos:0]");
    CHECK(run(lines) == Lines{"4:16 MIR0444 bind type 7 is neither 0 (input) nor 1 (output)"});
  }

  TEST_CASE("bind_c4: MIR0444 a bind of a slot that no value has") {
    for (const char* slot : {"-1", "2147483647", "9223372036854775807"}) {
      CAPTURE(slot);
      Lines lines = kSound;
      lines.insert(lines.begin() + 1,
                   "prog.bind[type:1, program_uuid:" + std::string(slot) + ", input_pos:1]");
      CHECK(run(lines) == Lines{"4:32 MIR0444 'program_uuid' of 'prog.bind' is " +
                                std::string(slot) + ", which is the number of no value"});
    }
  }

  TEST_CASE("field_c1: MIR0409 instructions that leave out what they need") {
    CHECK(with(0, "prog.bind[type:0, input_pos:0]") ==
          Lines{"3:1 MIR0409 'prog.bind' needs attribute 'program_uuid'",
                "8:1 MIR0454 warning %1 is read before anything fills it"});
    CHECK(with(5, launch(kX, kY, "op_type:SiLU")) ==
          Lines{"8:1 MIR0409 'prog.kernel_launch' needs attribute 'op_options'"});
    CHECK(with(1, "prog.mode_config").front() ==
          "4:1 MIR0409 'prog.mode_config' needs attribute 'flag'");
  }

  TEST_CASE("field_c2: MIR0312 instructions whose fields are of another kind") {
    const auto first = [](std::size_t at, const std::string& line) {
      return with(at, line).front();
    };
    CHECK(first(0, "prog.bind[type:zero, program_uuid:1, input_pos:0]") ==
          "3:16 MIR0312 attribute 'type' of 'prog.bind' is zero, expected an integer");
    CHECK(first(0, "prog.bind[type:0, program_uuid:1.5, input_pos:0]") ==
          "3:32 MIR0312 attribute 'program_uuid' of 'prog.bind' is 1.5, expected an integer");
    CHECK(first(0, "prog.bind[type:0, program_uuid:1, input_pos:]") ==
          "3:45 MIR0312 attribute 'input_pos' of 'prog.bind' is empty, expected an integer");
    CHECK(with(1, "prog.jump m.__entry[offset:1.5]") ==
          Lines{"4:28 MIR0312 attribute 'offset' of 'prog.jump' is 1.5, expected an integer"});
    CHECK(
        with(1, "prog.jump m.__entry[offset:18446744073709551615]") ==
        Lines{"4:28 MIR0312 attribute 'offset' of 'prog.jump' is 18446744073709551615, expected an "
              "integer"});
    for (const char* options : {"7", "[]", "word"}) {
      CAPTURE(options);
      CHECK(with(5, launch(kX, kY, "op_type:SiLU, op_options:" + std::string(options))) ==
            Lines{"8:109 MIR0312 attribute 'op_options' of 'prog.kernel_launch' is " +
                  std::string(options) + ", expected a dictionary"});
    }
    // So upstream prints a kernel that nothing launches.
    CHECK(run(kSound, {"prog.kernel_symbol[symbol:act, op_type:, op_options:]"}) == Lines{});
  }

  TEST_CASE("op_c1: MIR0400, op_c2: MIR0401 kernels that a launch names") {
    CHECK(with(5, launch(kX, kY, "op_type:Bogus, op_options:null")) ==
          Lines{"8:92 MIR0400 warning kernel 'Bogus' is not known"});
    CHECK(with(5, launch(std::string(kX) + ", " + kX, kY, "op_type:ReLU, op_options:null")) ==
          Lines{"8:1 MIR0401 warning kernel 'ReLU' is launched with 2 operands and 1 results"});
  }

  TEST_CASE("fragment_c1: MIR0448 unknown kinds, several blocks, a second code fragment") {
    CHECK(verified("@main () -> () {\nprog.fragment @a <CPU> <bss> {\n}\n}\n") ==
          Lines{"2:1 MIR0448 fragment '@a' is of kind 'bss', expected code, data or table"});
    CHECK(verified("@main () -> () {\nprog.fragment @a <CPU> <code> {\n}\nprog.fragment @b <CPU> "
                   "<code> {\n}\n}\n") == Lines{"4:1 MIR0448 '@b' is a second code fragment"});
    CHECK(verified("@main () -> () {\nprog.fragment @a <CPU> <table> {\n^b:\nmy.Op () -> ()\n^c:\n"
                   "my.Op () -> ()\n}\n}\n")
              .front() == "2:1 MIR0448 fragment '@a' has 2 blocks; programs jump to labels");
  }

  TEST_CASE("fragment_c2: MIR0445 addresses that do not count up from zero") {
    CHECK(run({"addr:0x1 prog.exit() -> ()"}) ==
          Lines{"3:10 MIR0445 address 0x1 where 0x0 is expected"});
    CHECK(run({"addr:0xffffffffffffffff prog.exit() -> ()"}) == Lines{});
  }

  TEST_CASE("launch_c1: MIR0447 a launch of a kernel that the table lacks") {
    Lines lines = kSound;
    lines.at(5) = launch(kX, kY, "symbol_name:act, op_type:SiLU, op_options:null");
    CHECK(run(lines) == Lines{});  // not flattened yet: no table of kernels
    const std::string other = "prog.kernel_symbol[symbol:norm, op_type:SiLU, op_options:null]";
    CHECK(run(lines, {other}) == Lines{"8:1 MIR0447 no kernel is named 'act'"});
  }

  TEST_CASE("launch_c2: MIR0447 a launch with other options than its kernel") {
    Lines lines = kSound;
    lines.at(5) = launch(kX, kY, "symbol_name:act, op_type:SiLU, op_options:null");
    CHECK(run(lines, {"prog.kernel_symbol[symbol:act, op_type:SiLU, op_options:null]"}) == Lines{});
    CHECK(run(lines, {"prog.kernel_symbol[symbol:act, op_type:GELU, op_options:null]"}) ==
          Lines{"8:109 MIR0447 op_type of the launch is SiLU, kernel 'act' has GELU"});
    // Without a table the first launch says what the kernel is.
    lines.insert(lines.begin() + 5,
                 launch(kX, kX, "symbol_name:act, op_type:GELU, op_options:null"));
    CHECK(run(lines).back() ==
          "9:109 MIR0447 op_type of the launch is SiLU, kernel 'act' has GELU");
  }

  TEST_CASE("launch_c3: MIR0312 an option of a kind that the kernel's op does not take") {
    const auto options = [](const std::string& text) {
      Lines lines = kSound;
      lines.at(5) = launch(kX, kY, "symbol_name:act, op_type:RMSNorm, op_options:" + text);
      return lines;
    };
    CHECK(run(options("{\"epsilon\":0.5,\"add_unit_offset\":true,\"other\":1}")) == Lines{});
    CHECK(run(options("{\"epsilon\":0.5,\"add_unit_offset\":null}")) == Lines{});
    CHECK(
        run(options("{\"epsilon\":0.5,\"add_unit_offset\":\"no\"}")) ==
        Lines{"8:162 MIR0312 attribute 'add_unit_offset' of 'linalg.RMSNormOp' is \"no\", expected "
              "'true' or 'false'"});
    CHECK(run(kSound, {"prog.kernel_symbol[symbol:act, op_type:RMSNorm, "
                       "op_options:{\"epsilon\":\"small\"}]"})
              .back()
              .find("MIR0312 attribute 'epsilon'") != std::string::npos);
  }

  TEST_CASE("constant_c1: MIR0476 a mention of a constant with other numbers than its table") {
    const auto product = [](const std::string& note) {
      Lines lines = kSound;
      lines.at(5) = launch(std::string(kX) + ", %7:tensor<[1], Float32, CPU>" + note, kY,
                           "op_type:Mul, op_options:null");
      return run(lines, {"prog.value_symbol() -> (%7:tensor<[1], Float32, CPU>[constant:[0.5]])"
                         "[symbol:constant_7]"});
    };
    CHECK(product("[constant:[2]]") ==
          Lines{"8:50 MIR0476 warning operand 1 is printed with [2], the table states [0.5]"});
    CHECK(product("[constant:[0.5]]") == Lines{});
    CHECK(product("") == Lines{});
  }

  TEST_CASE("slot_c1: MIR0454 a slot that is read before anything fills it") {
    CHECK(with(0, "prog.mode_config[flag:1]") ==
          Lines{"8:1 MIR0454 warning %1 is read before anything fills it"});
  }

  TEST_CASE("slot_c2: MIR0454 a slot that is freed and that nothing fills") {
    const auto freeing = [](const std::string& slot, const Lines& table = {}) {
      Lines lines = kSound;
      lines.insert(lines.end() - 1, "prog.free(" + slot + ") -> ()");
      return run(lines, table);
    };
    const std::string c = "%5:tensor<[1], Float32, CPU>";
    CHECK(freeing(c) == Lines{"10:1 MIR0454 %5 is freed and nothing fills it"});
    // Early dumps free parameters and constants that the program declares in another form, or not.
    CHECK(freeing(c, {"tensor.CPU.register () -> (" + c + "[@w])[symbol:w]"}) == Lines{});
    CHECK(freeing(c + "[@w]") == Lines{});
    CHECK(freeing(c + "[constant:[2]]") ==
          Lines{"10:1 MIR0453 warning %5 is a constant and is freed"});
  }

  TEST_CASE("slot_c2: MIR0454 a slot that is freed before the instruction that fills it") {
    Lines lines = kSound;
    lines.insert(lines.begin() + 5, "prog.free(" + std::string(kY) + ") -> ()");
    CHECK(run(lines) == Lines{"8:1 MIR0454 %2 is freed before anything fills it"});
    lines.erase(lines.begin() + 6);
    CHECK(run(lines) == Lines{"5:1 MIR0450 warning %2 is used after it was freed",
                              "8:1 MIR0454 %2 is freed and nothing fills it"});
  }

  TEST_CASE("slot_c2: MIR0454 a slot that the host fills is freed after it was read") {
    Lines lines = kSound;
    lines.at(0) = "prog.mode_config[flag:1]";
    CHECK(run(lines) == Lines{"8:1 MIR0454 warning %1 is read before anything fills it"});
  }

  TEST_CASE("free_c1: MIR0450 a slot that is used after it was freed") {
    Lines lines = kSound;
    lines.insert(lines.end() - 1, launch(kX, kX));
    CHECK(run(lines) ==
          Lines{"10:1 MIR0450 %1 is used after it was freed",
                "10:1 MIR0452 warning %1 is never freed",
                "10:54 MIR0470 warning result %1 takes over the storage id of an earlier value"});
  }

  TEST_CASE("free_c2: MIR0451 a slot that is freed twice") {
    Lines lines = kSound;
    lines.insert(lines.end() - 1, "prog.free(" + std::string(kX) + ") -> ()");
    CHECK(run(lines) == Lines{"10:1 MIR0451 %1 is freed twice"});
  }

  TEST_CASE("free_c1: MIR0450, free_c2: MIR0451 a body that runs again frees again") {
    Lines lines = kSound;
    lines.insert(lines.begin() + 2, "prog.jump m.__entry");
    CHECK(run(lines) ==
          Lines{"9:1 MIR0450 %1 is used after it was freed", "10:1 MIR0451 %1 is freed twice"});
    lines.insert(lines.begin() + 2, launch(kY, kX));
    CHECK(run(lines) == Lines{});
  }

  TEST_CASE("programs whose bodies call each other twice are followed in bounded time") {
    Lines lines = {"prog.jump l0", "prog.exit() -> ()"};
    for (int i = 0; i < 40; ++i) {
      const std::string next = "prog.jump l" + std::to_string(i + 1);
      lines.insert(lines.end(),
                   {"prog.label[symbol:l" + std::to_string(i) + "]", next, next, "prog.ret"});
    }
    lines.insert(lines.end(), {"prog.label[symbol:l40]", "prog.ret"});
    CHECK(run(lines) == Lines{});
  }

  TEST_CASE("free_c3: MIR0452 a slot that a program with frees never frees") {
    Lines lines = kSound;
    lines.insert(lines.begin() + 6, launch(kX, "%3:tensor<[2], Float32, CPU>"));
    CHECK(run(lines) == Lines{"9:1 MIR0452 warning %3 is never freed"});
  }

  TEST_CASE("free_c4: MIR0453 a constant of the symbol table that the program frees") {
    Lines lines = kSound;
    lines.insert(lines.end() - 1, "prog.free(%5:tensor<[1], Float32, CPU>) -> ()");
    CHECK(run(lines,
              {"prog.value_symbol() -> (%5:tensor<[1], Float32, CPU>[constant:[2]])[symbol:c]"}) ==
          Lines{"10:1 MIR0453 warning %5 belongs to the symbol table and is freed: the program can "
                "run only once"});
    // Early dumps register parameters there, and a run that frees one only lets go of the weights.
    CHECK(run(lines, {"tensor.CPU.register () -> (%5:tensor<[1], Float32, CPU>[@w])[symbol:w]"}) ==
          Lines{});
  }

  TEST_CASE("free_c5: MIR0450 an output that is bound after it was freed") {
    CHECK(with(6, "prog.free(" + std::string(kY) + ") -> ()") ==
          Lines{"5:1 MIR0450 warning %2 is used after it was freed"});
  }
}

TEST_SUITE("lifetime of graphs") {
  const std::string kFree = "tensor.CPU.free (" + std::string("%1:") + kType + ") -> ()";

  TEST_CASE("free_c1: MIR0450 a value that is used after tensor.free") {
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)", kFree, "linalg.CPU.SiLUOp(%1) -> (%2)"}) ==
          Lines{"4:1 MIR0450 operand 0 of 'linalg.SiLUOp' is used after it was freed"});
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)", "linalg.CPU.SiLUOp(%1) -> (%2)", kFree}) ==
          Lines{});
  }

  TEST_CASE("free_c2: MIR0451 a value that is freed twice") {
    CHECK(checked({"linalg.CPU.SiLUOp(%0) -> (%1)", kFree, kFree}) ==
          Lines{"4:1 MIR0451 %1 is freed twice"});
  }

  TEST_CASE("free_c4: MIR0453 parameters and constants of a graph that are freed") {
    CHECK(checked({"linalg.CPU.ParamOp [name:w, shape:[]] () -> (%1:tensor<[3], Float32, CPU>)",
                   "tensor.CPU.free (%1) -> ()",
                   "tensor.CPU.free (%c:tensor<[1], Float32, CPU>[constant:[1]]) -> ()"}) ==
          Lines{"3:1 MIR0453 %1 is a parameter and is freed",
                "4:1 MIR0453 %c is a constant and is freed"});
  }

  TEST_CASE("graphs that nothing calls are followed too") {
    CHECK(checked({graph("g", "tensor.CPU.free (%9) -> ()\ntensor.CPU.free (%9) -> ()")}) ==
          Lines{"5:1 MIR0451 %9 is freed twice",
                "6:1 MIR0450 operand 0 of 'cf.ReturnOp' is used after it was freed"});
  }

  TEST_CASE("free_c1: MIR0450 a storage that a called graph freed") {
    const std::string t = "tensor<[2], Float32, CPU>";
    CHECK(verified("@main () -> () {\ngraph.CallGraphOp @g (%1:" + t + ") -> (%2:" + t +
                   ")\nlinalg.CPU.SiLUOp(%1:" + t + ") -> (%3:" + t +
                   ")\ngraph.SubGraphOp @g <CPU> {\n(%1:" + t + ") -> (%2:" + t +
                   ") {\nlinalg.CPU.SiLUOp(%1:" + t + ") -> (%2:" + t + ")\ntensor.CPU.free (%1:" +
                   t + ") -> ()\ncf.ReturnOp (%2:" + t + ") -> ()\n}\n}\n}\n") ==
          Lines{"3:1 MIR0450 operand 0 of 'linalg.SiLUOp' is used after it was freed"});
  }

  TEST_CASE("free_c5: MIR0450 a value that is returned after it was freed") {
    CHECK(verified(module_of({"linalg.CPU.SiLUOp(%0) -> (%1)", kFree, "cf.ReturnOp (%1) -> ()"},
                             "%1:" + std::string(kType))) ==
          Lines{"4:1 MIR0450 operand 0 of 'cf.ReturnOp' is used after it was freed"});
  }

  TEST_CASE("free_c4: MIR0453 a parameter that is freed") {
    CHECK(checked({"tensor.CPU.register () -> (%1:" + std::string(kType) + "[@w])[symbol:w]",
                   "tensor.CPU.free (%1:" + std::string(kType) + "[@w]) -> ()"}) ==
          Lines{"3:1 MIR0453 %1 is a parameter and is freed"});
  }
}
