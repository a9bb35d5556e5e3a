// Programs that the machine stops.
#include <string>

#include "program.hpp"

namespace mir::test {

namespace {

const std::string kBind = "prog.bind[type:0, program_uuid:1, input_pos:0]\n";
const std::string kNegate =
    "prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)"
    "[op_type:Neg, op_options:null]\n";
const std::string kGive = "prog.bind[type:1, program_uuid:2, input_pos:0]\n";
const std::string kExit = "prog.exit() -> ()\n";
const std::string kFree = "prog.free(%1:tensor<[2], Float32, CPU>) -> ()\n";

std::string fault(const std::string& code, const MachineRun& options = {}) {
  return Machine(program(code)).error({floats({2}, {1, 2})}, options);
}

std::string load_fault(const std::string& text) {
  const Machine machine(text);
  REQUIRE(machine.load_errors().size() == 1);
  return machine.load_errors().front();
}

}  // namespace

TEST_CASE("a jump without label leads where its offset says, or nowhere") {
  const std::string code = kBind + "prog.jump lost[offset:3]\n" + kGive + kExit +
                           "prog.mode_config[flag:0]\n" + kNegate + "prog.ret\n";
  CHECK(values_of(Machine(program(code)).run({floats({2}, {1, 2})})[0]) ==
        std::vector<double>{-1, -2});
  CHECK(fault(kBind + "prog.jump lost[offset:30]\n" + kExit) ==
        "440 at pc 1: no label of the code is named 'lost', and no offset leads into it");
  CHECK(fault(kBind + "prog.jump lost[offset:-2]\n" + kExit).starts_with("440 "));
  CHECK(fault(kBind + "prog.jump lost\n" + kExit).starts_with("440 "));
}

TEST_CASE("returns need jumps, programs an exit, jumps an end") {
  CHECK(fault(kBind + "prog.ret\n") == "442 at pc 1: prog.ret is reached and no jump led here");
  CHECK(fault(kBind + kNegate) ==
        "442 at pc 2: the program runs past its end: no prog.exit stops it");
  CHECK(fault(kBind + "prog.label[symbol:a]\nprog.jump a\n") ==
        "446 at pc 2: jumps are nested deeper than 1000");
}

TEST_CASE("runs take no more steps than allowed") {
  MachineRun options;
  options.step_limit = 3;
  const std::string code = kBind + kNegate + kGive + kExit;
  CHECK(fault(code, options) == "828 at pc 3: the program takes more than 3 steps");
  options.step_limit = 4;
  CHECK(Machine(program(code)).run({floats({2}, {1, 2})}, options).size() == 1);
  // A body that calls itself twice would take 2^1000 steps.
  options.step_limit = 5000;
  CHECK(fault(
            kBind +
                "prog.jump a\nprog.ret\nprog.label[symbol:b]\nprog.ret\n"
                "prog.label[symbol:a]\n" +
                [] {
                  std::string many;
                  for (int i = 0; i < 3000; ++i) many += "prog.jump b\n";
                  return many;
                }(),
            options)
            .starts_with("828 "));
  std::stop_source stop;
  stop.request_stop();
  MachineRun stopped;
  stopped.stop = stop.get_token();
  CHECK(fault(code, stopped).starts_with("824 "));
}

TEST_CASE("slots are read while they hold something") {
  CHECK(fault(kBind + kFree + kNegate + kGive + kExit) ==
        "450 at pc 2: '%1' is read after it was freed");
  CHECK(fault(kBind + kFree + kFree + kExit) == "451 at pc 2: '%1' is freed twice");
  CHECK(fault(kBind + "prog.free(%3:tensor<[2], Float32, CPU>) -> ()\n" + kExit) ==
        "454 at pc 1: '%3' is freed before anything fills it");
  CHECK(fault(kBind + kGive + kExit) == "454 at pc 1: '%2' is bound before anything fills it");
}

TEST_CASE("an output that is freed before it is bound is what was freed, with a warning") {
  // Upstream frees what the last op of a graph works on, also where the graph returns it.
  const std::string free = "prog.free(%2:tensor<[2], Float32, CPU>) -> ()\n";
  Machine freed(program(kBind + kNegate + free + kGive + kExit));
  Diagnostics problems;
  const auto outputs = freed.machine().run(std::vector{floats({2}, {1, -2})}, problems);
  REQUIRE(outputs.has_value());
  CHECK(values_of((*outputs)[0]) == std::vector<double>{-1, 2});
  CHECK(problems.error_count() == 0);
  REQUIRE(problems.sorted().size() == 1);
  CHECK(problems.sorted()[0].code == DiagCode::kUseAfterFree);
  CHECK(problems.sorted()[0].message ==
        "at pc 3: '%2' is bound after it was freed: it is what it was then");
  // What is read, and not bound, must be there.
  CHECK(fault(kBind + kNegate + free +
              "prog.kernel_launch(%2:tensor<[2], Float32, CPU>) -> "
              "(%3:tensor<[2], Float32, CPU>)[op_type:Neg, op_options:null]\n" +
              kGive + kExit) == "450 at pc 3: '%2' is read after it was freed");
}

TEST_CASE("bindings that do not fit are refused") {
  CHECK(load_fault(program("prog.bind[type:0, program_uuid:1, input_pos:1]\n" + kExit)) ==
        "444 input 1 is bound where 0 is expected");
  CHECK(load_fault(program(kBind + kGive + kGive + kExit)) ==
        "444 output 0 is bound where 1 is expected");
  CHECK(load_fault(program("prog.bind[type:2, program_uuid:1, input_pos:0]\n" + kExit)) ==
        "444 a binding needs type 0 or 1, a slot and a position from 0 on");
  CHECK(load_fault(program("prog.bind[type:0, input_pos:0]\n" + kExit)).starts_with("444 "));
  CHECK(load_fault(program("prog.bind[type:0, program_uuid:1, input_pos:-1]\n" + kExit))
            .starts_with("444 "));
  CHECK(fault(kBind + kExit + kNegate + kGive) ==
        "444 at pc 1: the program stops and output 0 was not bound");
}

TEST_CASE("fields that cannot be read are refused before anything runs") {
  CHECK(load_fault(program(kBind + "prog.jump a[offset:1.5]\n" + kExit)) ==
        "312 attribute 'offset' of 'prog.jump' is 1.5, expected an integer");
  for (const char* options : {"7", "[]", ""}) {
    CAPTURE(options);
    CHECK(load_fault(program(kBind +
                             "prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> "
                             "(%2:tensor<[2], Float32, CPU>)[op_type:Neg, op_options:" +
                             options + "]\n" + kGive + kExit))
              .starts_with("312 attribute 'op_options' of 'prog.kernel_launch' is "));
  }
  CHECK(load_fault(program("prog.mode_config\n" + kExit)) ==
        "409 'prog.mode_config' needs attribute 'flag'");
}

TEST_CASE("a kernel is what its table or its first launch says") {
  const auto named = [](const std::string& type) {
    return "prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)"
           "[symbol_name:act, op_type:" +
           type + ", op_options:null]\n";
  };
  const std::string table = "prog.kernel_symbol[symbol:act, op_type:Neg, op_options:null]\n";
  const std::vector<Tensor> inputs = {floats({2}, {1, 2})};
  CHECK(fault(kBind + named("Neg") + named("Abs") + kGive + kExit) ==
        "447 at pc 2: the launch has another type or other options than kernel 'act'");
  CHECK(Machine(program(kBind + named("Abs") + kGive + kExit, table))
            .error(inputs)
            .starts_with("447 at pc 1: "));
  CHECK(Machine(program(kBind + named("Neg") + named("Neg") + kGive + kExit, table))
            .run(inputs)
            .size() == 1);
}

TEST_CASE("only programs of one code fragment are loaded, and only instructions run") {
  CHECK(load_fault("@main () -> () {\n}\n").starts_with("317 "));
  CHECK(load_fault("@main () -> () {\nprog.fragment @a <CPU> <code> {\nprog.ret\n}\n"
                   "prog.fragment @b <CPU> <code> {\nprog.ret\n}\n}\n")
            .starts_with("448 "));
  CHECK(load_fault(program(kBind + kExit + "^side:\n" + kExit)) ==
        "448 fragment '@code' has 2 blocks; programs jump to labels");
  CHECK(fault(kBind + "prog.entry_point () -> () [symbol:e]\n" + kExit) ==
        "810 at pc 1: 'prog.entry_point' is no instruction of the machine");
  CHECK(fault(kBind +
              "prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> "
              "(%2:tensor<[2], Float32, CPU>)[op_type:Nothing, op_options:null]\n" +
              kExit) ==
        "700 linalg.Nothing: meaning is lost: no dialect declares it; "
        "--assume=Nothing.0.meaning=plugin leaves it to a plug-in");
}

TEST_CASE("faults inside bodies name the jumps that led there") {
  Text text(program(kBind + "prog.jump a\n" + kExit +
                    "prog.label[symbol:a]\nprog.jump b\n"
                    "prog.ret\nprog.label[symbol:b]\n" +
                    kFree + kFree + "prog.ret\n"));
  Diagnostics problems;
  auto machine = ProgramMachine::load(*text.module, {}, problems);
  REQUIRE(machine);
  CHECK_FALSE(machine->run(std::vector{floats({2}, {1, 2})}, problems));
  const auto found = problems.sorted();
  REQUIRE(found.size() == 1);
  std::vector<std::string> notes;
  for (const auto& note : found[0].notes) notes.push_back(note.message);
  CHECK(notes == std::vector<std::string>{"freed here", "called here", "called here"});
}

}  // namespace mir::test
