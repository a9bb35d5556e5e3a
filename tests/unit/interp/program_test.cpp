// Lowered programs, run as the graphs that they are lifted to.
#include "program.hpp"

#include <string>
#include <vector>

#include "interp/program_trace.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "upgrade/lower_program.hpp"

namespace mir::test::program_test {

namespace {

/// Linear, a constant factor, a view in place, an activation; two bodies.
const std::string kNet = program(
    "prog.mode_config[flag:1]\n"
    "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
    "prog.jump net.__entry[offset:3]\n"
    "prog.bind[type:1, program_uuid:4, input_pos:0]\n"
    "prog.exit() -> ()\n"
    "prog.label[symbol:net.__entry]\n"
    "prog.kernel_launch(%1:tensor<[2, 4], Float32, CPU>) -> (%2:tensor<[2, 6], Float32, CPU>)"
    "[symbol_name:net.fc, op_type:Linear, "
    "op_options:{\"bias\":true,\"impl_type\":\"Default\",\"in_channels\":4,\"out_channels\":6}]\n"
    "prog.jump net.act.__entry\n"
    "prog.free(%2:tensor<[2, 6], Float32, CPU>) -> ()\n"
    "prog.ret\n"
    "prog.label[symbol:net.act.__entry]\n"
    "prog.kernel_launch(%2:tensor<[2, 6], Float32, CPU>, %7:tensor<[1], Float32, "
    "CPU>[constant:[0.5]])"
    " -> (%3:tensor<[2, 6], Float32, CPU>)[op_type:Mul, op_options:null]\n"
    "prog.kernel_launch(%3:tensor<[2, 6], Float32, CPU>) -> (%3:tensor<[4, 3], Float32, CPU>)"
    "[op_type:View, op_options:{\"to_shape\":[4,-1]}]\n"
    "prog.kernel_launch(%3:tensor<[4, 3], Float32, CPU>) -> (%4:tensor<[4, 3], Float32, CPU>)"
    "[op_type:SiLU, op_options:null]\n"
    "prog.free(%3:tensor<[4, 3], Float32, CPU>) -> ()\n"
    "prog.ret\n",
    "prog.value_symbol() -> (%5:tensor<[6, 4], Float32, "
    "CPU>[@net.fc.weight])[symbol:net.fc.weight]\n"
    "prog.value_symbol() -> (%6:tensor<[6], Float32, CPU>[@net.fc.bias])[symbol:net.fc.bias]\n"
    "prog.value_symbol() -> (%7:tensor<[1], Float32, CPU>[constant:[0.5]])[symbol:constant_7]\n"
    "prog.kernel_symbol[symbol:net.fc, op_type:Linear, "
    "op_options:{\"bias\":true,\"impl_type\":\"Default\",\"in_channels\":4,\"out_channels\":6}]\n");

Tensor input() {
  return floats({2, 4}, {1, -2, 3, 0.5, 0.25, -1, 2, 1});
}

}  // namespace

TEST_CASE("a program runs again and again, its constants the same each time") {
  Program net(kNet);
  const auto outputs = net.run({input()});
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].shape() == Shape{4, 3});
  CHECK(same_bits(net.run({input()}), outputs));
}

TEST_CASE("a trace shows instructions before they run, through calls and returns") {
  Text text(kNet);
  const auto program = clone(*text.module);
  Diagnostics problems;
  LossReport losses;
  REQUIRE(upgrade(*text.module, {}, losses, problems));
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  auto session = Session::create(*text.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session);
  ProgramTrace trace(*program, SessionAccess::schedule(*session));
  std::vector<std::size_t> pcs, depths, shown;  // `shown`: when each op has run
  const auto show = [&](const ProgramStep& step) {
    CHECK(step.number == pcs.size());
    pcs.push_back(step.pc);
    depths.push_back(step.depth);
  };
  RunOptions options;
  options.observe = [&](const StepResults& step) -> Result<void> {
    shown.push_back(pcs.size());
    trace.follow(step.op);
    return {};
  };
  for (int run = 0; run < 2; ++run) {
    pcs.clear(), depths.clear(), shown.clear();
    trace.begin(show);
    REQUIRE(session->run(std::vector{input()}, problems, options));
    trace.end();
    CHECK(pcs == std::vector<std::size_t>{0, 1, 2, 5, 6, 7, 10, 11, 12, 13, 14, 15, 8, 9, 3, 4});
    CHECK(depths == std::vector<std::size_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 0, 0});
    CHECK(shown == std::vector<std::size_t>{5, 8, 9, 10});
  }
  CHECK(trace.check_steps(16, problems));
  CHECK_FALSE(trace.check_steps(15, problems));
  CHECK(errors_of(problems) ==
        std::vector<std::string>{"828 at pc 4: the program takes more than 15 steps"});
}

TEST_CASE("inputs are what is bound, then slots that nothing fills") {
  const std::string text = program(
      "prog.bind[type:0, program_uuid:2, input_pos:1]\n"
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[2], Float32, CPU>, %9:tensor<[2], Float32, CPU>)"
      " -> (%3:tensor<[2], Float32, CPU>)[op_type:Add, op_options:null]\n"
      "prog.kernel_launch(%3:tensor<[2], Float32, CPU>, %2:tensor<[2], Float32, CPU>)"
      " -> (%9:tensor<[2], Float32, CPU>)[op_type:Sub, op_options:null]\n"
      "prog.bind[type:1, program_uuid:9, input_pos:0]\n"
      "prog.exit() -> ()\n");
  Program ran(text);
  std::vector<std::string> names;
  for (const Port& port : ran.session().inputs()) names.push_back(port.name);
  CHECK(names == std::vector<std::string>{"1", "2", "9"});
  CHECK(ran.session().inputs()[2].type->spelling() == "tensor<[2], Float32, CPU>");
  REQUIRE(ran.session().outputs().size() == 1);
  const auto outputs =
      ran.run({floats({2}, {1, 2}), floats({2}, {10, 20}), floats({2}, {100, 200})});
  CHECK(values_of(outputs[0]) == std::vector<double>{91, 182});
  CHECK(ran.error({floats({2}, {1, 2})}).starts_with("820 "));
}

TEST_CASE("a constant is what the table states, whatever its mentions say") {
  for (const char* mention : {"[constant:[2]]", "[constant:[0.5]]", ""}) {
    CAPTURE(mention);
    const std::string text = program(
        "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
        "prog.kernel_launch(%1:tensor<[2], Float32, CPU>, %7:tensor<[1], Float32, CPU>" +
            std::string(mention) +
            ") -> (%2:tensor<[2], Float32, CPU>)[op_type:Mul, op_options:null]\n"
            "prog.bind[type:1, program_uuid:2, input_pos:0]\n"
            "prog.exit() -> ()\n",
        "prog.value_symbol() -> (%7:tensor<[1], Float32, CPU>[constant:[0.5]])"
        "[symbol:constant_7]\n");
    const std::vector<Tensor> inputs = {floats({2}, {1, -2})};
    CHECK(values_of(Program(text).run(inputs)[0]) == std::vector<double>{0.5, -1});
  }
}

TEST_CASE("constants, parameters and inputs are outputs as they are") {
  const std::string text = program(
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[2], Float32, CPU>, %8:tensor<[2], Float32, CPU>)"
      " -> (%2:tensor<[2], Float32, CPU>)[op_type:Add, op_options:null]\n"
      "prog.bind[type:1, program_uuid:8, input_pos:3]\n"
      "prog.bind[type:1, program_uuid:7, input_pos:2]\n"
      "prog.bind[type:1, program_uuid:1, input_pos:1]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\n"
      "prog.exit() -> ()\n",
      "prog.value_symbol() -> (%7:tensor<[1], Float32, CPU>[constant:[0.5]])[symbol:constant_7]\n"
      "prog.value_symbol() -> (%8:tensor<[2], Float32, CPU>[@w])[symbol:w]\n");
  const std::vector<Tensor> inputs = {floats({2}, {1, -2})};
  Program ran(text);
  CHECK(ran.session().inputs().size() == 1);
  const auto outputs = ran.run(inputs);
  REQUIRE(outputs.size() == 4);
  CHECK(same_bits({outputs[1]}, inputs));
  CHECK(values_of(outputs[2]) == std::vector<double>{0.5});
}

TEST_CASE("a lowered module runs, whatever it does with its inputs") {
  const std::string x = "tensor<[2], Float32, CPU>", y = "tensor<[3], Int64, CPU>";
  const auto check = [&](const std::string& outputs, const std::string& body) {
    const std::string text = "@main [mir_version:1] (%1:" + x + ", %2:" + y + ") -> (" + outputs +
                             ") {\n" + body + "}\n";
    CAPTURE(text);
    Text source(text);
    Diagnostics problems;
    LossReport losses;
    REQUIRE(lower_program(*source.module, losses, problems));
    CHECK(verify(*source.module, problems));
    CHECK(problems.warning_count() == 0);
    const std::string program = print(*source.module);
    const std::vector<Tensor> inputs = {floats({2}, {1, -2}), ints({3}, {4, 5, 6})};
    CHECK(same_bits(Program(program).run(inputs), Runner(text).run(inputs)));
  };
  // One input is not read, and is an output or not.
  const std::string negate = "linalg.CPU.NegOp (%1) -> (%3:" + x + ")\n";
  check("%3:" + x, negate + "cf.ReturnOp (%3) -> ()\n");
  check("%3:" + x + ", %2:" + y, negate + "cf.ReturnOp (%3, %2) -> ()\n");
  check("%1:" + x + ", %3:" + x, negate + "cf.ReturnOp (%1, %3) -> ()\n");
  check("%2:" + y + ", %1:" + x, "cf.ReturnOp (%2, %1) -> ()\n");
  // A graph returns its input, and nothing else.
  check("%5:" + y, "graph.CallGraphOp @g (%2) -> (%5:" + y +
                       ")\ngraph.SubGraphOp @g <CPU> {\n(%4:" + y + ") -> (%4:" + y +
                       ") {\ncf.ReturnOp (%4) -> ()\n}\n}\ncf.ReturnOp (%5) -> ()\n");
}

TEST_CASE("results of one launch with one id are read in their order") {
  const std::string text = program(
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[3, 2], Float32, CPU>) -> (%1:tensor<[3, 2], Float32, CPU>, "
      "%1:tensor<[3, 2], Float32, CPU>, %1:tensor<[3, 2], Float32, CPU>)"
      "[op_type:Split, op_options:{\"dim\":0,\"split_size_or_sections\":[1]}]\n"
      "prog.kernel_launch(%1:tensor<[3, 2], Float32, CPU>) -> (%2:tensor<[1, 2], Float32, CPU>)"
      "[op_type:Neg, op_options:null]\n"
      "prog.kernel_launch(%1:tensor<[3, 2], Float32, CPU>, %1:tensor<[3, 2], Float32, CPU>)"
      " -> (%3:tensor<[1, 2], Float32, CPU>)[op_type:Sub, op_options:null]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\n"
      "prog.bind[type:1, program_uuid:3, input_pos:1]\n"
      "prog.exit() -> ()\n");
  Program ran(text);
  const auto outputs = ran.run({floats({3, 2}, {1, 2, 10, 20, 100, 200})});
  CHECK(values_of(outputs[0]) == std::vector<double>{-1, -2});
  CHECK(values_of(outputs[1]) == std::vector<double>{-90, -180});
}

TEST_CASE("pieces of several extents are read by the launches that print them") {
  const std::string piece = "prog.kernel_launch(%1:tensor<[3, 2], Float32, CPU>) -> ";
  const std::string text = program(
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[3, 2], Float32, CPU>) -> (%1:tensor<[3, 2], Float32, CPU>, "
      "%1:tensor<[3, 2], Float32, CPU>)[op_type:Split, "
      "op_options:{\"dim\":0,\"split_size_or_sections\":[1,2]}]\n" +
      piece + "(%2:tensor<[2, 2], Float32, CPU>)[op_type:Neg, op_options:null]\n" + piece +
      "(%3:tensor<[1, 2], Float32, CPU>)[op_type:Abs, op_options:null]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\n"
      "prog.bind[type:1, program_uuid:3, input_pos:1]\n"
      "prog.exit() -> ()\n");
  const std::vector<Tensor> inputs = {floats({3, 2}, {1, 2, 10, 20, 100, 200})};
  const auto outputs = Program(text).run(inputs);
  CHECK(values_of(outputs[0]) == std::vector<double>{-10, -20, -100, -200});
  CHECK(values_of(outputs[1]) == std::vector<double>{1, 2});
}

TEST_CASE("two launches of one kernel are one cache") {
  const auto launch = [](const std::string& tokens, const std::string& past) {
    const std::string type = ":tensor<[1, 1, " + tokens + ", 2], Float32, CPU>";
    const std::string held = ":tensor<[1, 1, " + past + ", 2], Float32, CPU>";
    return "prog.kernel_launch(%1" + type + ", %1" + type + ") -> (%2" + held + ", %3" + held +
           ")[symbol_name:kv, op_type:KVCache, op_options:{\"head_dim\":2,\"kv_head\":1,"
           "\"layer_idx\":0,\"q_head\":1,\"use_fa2\":false}]\n";
  };
  const std::string twice = program("prog.bind[type:0, program_uuid:1, input_pos:0]\n" +
                                    launch("1", "1") + launch("1", "2") +
                                    "prog.bind[type:1, program_uuid:2, input_pos:0]\n"
                                    "prog.exit() -> ()\n");
  CHECK(Program(twice).run({floats({1, 1, 1, 2}, {7, 8})})[0].shape() == Shape{1, 1, 2, 2});
}

TEST_CASE("alloc fills a slot with zeros, once it is free") {
  const std::string use =
      "prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)"
      "[op_type:Neg, op_options:null]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\nprog.exit() -> ()\n";
  const std::string alloc = "prog.alloc() -> (%1:tensor<[2], Float32, CPU>)\n";
  const std::string free = "prog.free(%1:tensor<[2], Float32, CPU>) -> ()\n";
  CHECK(values_of(Program(program(alloc + free + alloc + use)).run({})[0]) ==
        std::vector<double>{0, 0});
}

TEST_CASE("options that launches lost are derived or granted") {
  const std::string text = program(
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[2, 4], Float32, CPU>) -> (%2:tensor<[2, 4], Float32, CPU>)"
      "[symbol_name:norm, op_type:RMSNorm, op_options:null]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\nprog.exit() -> ()\n",
      "prog.value_symbol() -> (%5:tensor<[4], Float32, CPU>[@norm.weight])[symbol:norm.weight]\n");
  CHECK(Program(text).error({input()}).starts_with("700 "));
  Program granted(text, {.rms_epsilon = 1e-6, .layer_norm_epsilon = std::nullopt});
  CHECK(granted.run({input()})[0].shape() == Shape{2, 4});
  CHECK_FALSE(granted.losses().entries.empty());
}

TEST_CASE("the distance of a convolution's taps is what its launch prints") {
  const std::string text = program(
      "prog.bind[type:0, program_uuid:1, input_pos:0]\n"
      "prog.kernel_launch(%1:tensor<[1, 2, 9], Float32, CPU>) -> (%2:tensor<[1, 3, 9], Float32, "
      "CPU>)[symbol_name:conv, op_type:Conv1D, op_options:{\"bias\":false,\"groups\":1,"
      "\"in_channels\":2,\"kernel_size\":3,\"out_channels\":3,\"padding\":2,\"stride\":1}]\n"
      "prog.bind[type:1, program_uuid:2, input_pos:0]\nprog.exit() -> ()\n",
      "prog.value_symbol() -> (%5:tensor<[3, 2, 3], Float32, "
      "CPU>[@conv.weight])[symbol:conv.weight]\n");
  const std::vector<Tensor> inputs = {floats({1, 2, 9}, {1, -2, 3, 0.5, 0.25, -1, 2, 1, 4,  //
                                                         2, 0, 1, -1, 0.5, 3, 0, -3, 1})};
  CHECK(Program(text).run(inputs)[0].shape() == Shape{1, 3, 9});
}

TEST_CASE("a launch without a name takes what is granted to its place") {
  const std::string x = "tensor<[4], Float32, CPU>";
  const auto clip = [&](const std::string& from, const std::string& to) {
    return "prog.kernel_launch(%" + from + ":" + x + ") -> (%" + to + ":" + x +
           ")[op_type:Clip, op_options:null]\n";
  };
  const std::string text =
      program("prog.bind[type:0, program_uuid:1, input_pos:0]\n" + clip("1", "2") +
              "prog.jump net.__entry[offset:3]\nprog.bind[type:1, program_uuid:4, input_pos:0]\n"
              "prog.exit() -> ()\nprog.label[symbol:net.__entry]\n" +
              clip("2", "3") + clip("3", "4") + "prog.ret() -> ()\n");
  UpgradeOptions assumed;
  for (const char* fact : {"Clip.0.min_val=-3", "Clip.0.max_val=3", "net.Clip.0.min_val=-2",
                           "net.Clip.0.max_val=2.5", "net.Clip.1.min_val=-1"}) {
    REQUIRE(grant(assumed, fact).ok());
  }
  const std::vector<Tensor> inputs = {floats({4}, {-9, -0.5, 0.5, 9})};
  CHECK(Program(text, assumed).error(inputs).find("--assume='net.Clip.1.max_val=...'") !=
        std::string::npos);
  REQUIRE(grant(assumed, "net.Clip.1.max_val=2").ok());
  CHECK(same_bits(Program(text, assumed).run(inputs), {floats({4}, {-1, -0.5, 0.5, 2})}));
}

TEST_CASE("operands that launches lost are granted") {
  const std::string x = ":tensor<[4], Float32, CPU>";
  const auto launch = [&](const std::string& type, const std::string& from, const std::string& to) {
    return "prog.kernel_launch(%" + from + x + ") -> (%" + to + x + ")[op_type:" + type +
           ", op_options:null]\n";
  };
  const std::string text =
      program("prog.bind[type:0, program_uuid:1, input_pos:0]\n" + launch("Neg", "1", "2") +
              "prog.jump net.__entry[offset:3]\n"
              "prog.bind[type:1, program_uuid:4, input_pos:0]\n"
              "prog.exit() -> ()\nprog.label[symbol:net.__entry]\n" +
              launch("Mul", "2", "3") + launch("Add", "3", "4") +
              "prog.ret() -> ()\nprog.label[symbol:dead.__entry]\n" + launch("Sub", "3", "4") +
              "prog.ret() -> ()\n");
  const auto operand = [](const std::string& op, const std::string& number,
                          const std::string& mention) {
    return Grant{Grant::Kind::kOperand, op, number, mention};
  };
  UpgradeOptions assumed;
  // What the caller filled, and what nothing fills: that is a further input.
  assumed.grants = {operand("net.Mul.0", "1", "%1" + x), operand("Add", "1", "%mask" + x)};
  const std::vector<Tensor> inputs = {floats({4}, {1, 2, 3, 4}), floats({4}, {10, 20, 30, 40})};
  CHECK(same_bits(Program(text, assumed).run(inputs), {floats({4}, {9, 16, 21, 24})}));

  SUBCASE("an operand that the launch has is not granted") {
    assumed.grants.push_back(operand("net.Mul.0", "0", "%1" + x));
    const std::vector<std::string> unused = {
        "701 --assume: no operation lost 'operand 0 of net.Mul.0'"};
    CHECK(Program(text, assumed).load_errors() == unused);
  }
  SUBCASE("a launch that never runs takes no operand") {
    assumed.grants.push_back(operand("dead.Sub.0", "1", "%1" + x));
    const std::vector<std::string> unused = {
        "701 --assume: no operation lost 'operand 1 of dead.Sub.0'"};
    CHECK(Program(text, assumed).load_errors() == unused);
  }
  SUBCASE("an attribute that no launch lost is not granted") {
    assumed.grants.push_back({Grant::Kind::kAttribute, "Clip.0", "min_val", "1"});
    const std::vector<std::string> unused = {"701 --assume: no operation lost 'Clip.0.min_val'"};
    CHECK(Program(text, assumed).load_errors() == unused);
  }
}

}  // namespace mir::test::program_test
