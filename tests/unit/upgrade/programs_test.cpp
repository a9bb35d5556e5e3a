// Lowered programs that become graphs, and graphs that become programs.
#include <algorithm>

#include "../short_types.hpp"
#include "upgrade/lower_program.hpp"
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace programs_test {

namespace {

const std::string kT = t("2");

std::string launch(const std::string& kind, const Lines& operands, const std::string& result) {
  std::string text = "prog.kernel_launch(";
  for (const std::string& each : operands) {
    text += (text.ends_with('(') ? "%" : ", %") + each + ":" + kT;
  }
  return text + ") -> (%" + result + ":" + kT + ")[op_type:" + kind + ", op_options:null]";
}

std::string input(int slot, int position = 0) {
  return "prog.bind[type:0, program_uuid:" + std::to_string(slot) +
         ", input_pos:" + std::to_string(position) + "]";
}

std::string output(int slot, int position = 0) {
  return "prog.bind[type:1, program_uuid:" + std::to_string(slot) +
         ", input_pos:" + std::to_string(position) + "]";
}

std::string label(const std::string& name) {
  return "prog.label[symbol:" + name + ".__entry]";
}

const std::string kExit = "prog.exit() -> ()", kReturn = "prog.ret";

std::string program(const Lines& code) {
  std::string text = "@main () -> () {\nprog.fragment @code <CPU> <code> {\n";
  for (const std::string& each : code) text += each + "\n";
  return text + "}\n}\n";
}

/// The lines of the graph form without indentation, `t[2]` for its types; or the errors.
Lines lifted(const std::string& text, Lines* assumed = nullptr) {
  Upgraded upgraded(text, {});
  if (assumed != nullptr) *assumed = upgraded.entries(Source::kAssumed);
  Lines list;
  if (!upgraded.good) {
    for (const std::string& each : upgraded.errors()) {
      list.push_back(each.substr(each.find("MIR")));
    }
    return list;
  }
  CHECK(upgraded.problems() == Lines{});
  const std::string printed = with_short_types(print(upgraded.module()));
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = printed.find('\n', at);
    std::string line = printed.substr(at, end - at);
    line.erase(0, line.find_first_not_of(' '));
    if (line != "}") list.push_back(line);
    at = end + 1;
  }
  return list;
}

/// The program of a module with these ops, one instruction a line; what is lost and refused after
/// it.
Lines lowered(const std::string& head, const std::string& ops) {
  Reading reading("@main [mir_version:1] " + head + " {\n" + ops + "}\n");
  REQUIRE(reading.errors() == Lines{});
  LossReport losses;
  Diagnostics problems;
  Lines list;
  if (lower_program(reading.module(), losses, problems)) {
    const std::string printed = with_short_types(print(reading.module()));
    for (std::size_t at = 0; at < printed.size();) {
      const std::size_t end = printed.find('\n', at);
      std::string line = printed.substr(at, end - at);
      line.erase(0, std::min(line.find("prog."), line.size()));
      for (const char* kind : {"kernel_launch", "free", "jump", "bind"}) {
        if (line.starts_with("prog." + std::string(kind))) list.push_back(line);
      }
      at = end + 1;
    }
  }
  for (const std::string& each : lines_of(problems, reading.context)) {
    list.push_back(each.substr(each.find("MIR")));
  }
  for (const LossEntry& each : losses.entries) {
    if (each.source == Source::kDropped) list.push_back(each.fact + "=" + each.used);
  }
  return list;
}

}  // namespace

TEST_SUITE("programs that become graphs") {
  TEST_CASE("bindings are inputs and outputs in the order of their positions") {
    CHECK(lifted(program({input(2, 1), input(1), launch("Sub", {"1", "2"}, "3"),
                          launch("Neg", {"3"}, "4"), output(4, 1), output(3), kExit})) ==
          Lines{"@main [mir_version:1] (%1:t[2], %2:t[2]) -> (%3:t[2], %4:t[2]) {",
                "linalg.CPU.SubOp(%1:t[2], %2:t[2]) -> (%3:t[2])",
                "linalg.CPU.NegOp(%3:t[2]) -> (%4:t[2])", "cf.ReturnOp (%3:t[2], %4:t[2]) -> ()"});
  }

  TEST_CASE("a program that binds no output has what nothing reads or frees for outputs") {
    Lines assumed;
    CHECK(lifted(program({input(1), launch("Neg", {"1"}, "2"), launch("Abs", {"1"}, "3"),
                          launch("Exp", {"2"}, "4"), launch("Sin", {"1"}, "5"),
                          "prog.free(%5:" + kT + ") -> ()", kExit}),
                 &assumed) ==
          Lines{"@main [mir_version:1] (%1:t[2]) -> (%3:t[2], %4:t[2]) {",
                "linalg.CPU.NegOp(%1:t[2]) -> (%2:t[2])", "linalg.CPU.AbsOp(%1:t[2]) -> (%3:t[2])",
                "linalg.CPU.ExpOp(%2:t[2]) -> (%4:t[2])", "linalg.CPU.SinOp(%1:t[2]) -> (%5:t[2])",
                "cf.ReturnOp (%3:t[2], %4:t[2]) -> ()"});
    CHECK(assumed == Lines{"prog.kernel_launch output of the program=what nothing reads",
                           "prog.kernel_launch output of the program=what nothing reads"});
  }

  TEST_CASE("a body after a label is a graph with what it reads for inputs") {
    CHECK(lifted(program({input(1), "prog.jump net.__entry", output(3), kExit, label("net"),
                          launch("Neg", {"1"}, "2"), launch("Add", {"2", "1"}, "3"), kReturn})) ==
          Lines{"@main [mir_version:1] (%1:t[2]) -> (%3:t[2]) {",
                "graph.CallGraphOp @net (%1:t[2]) -> (%3:t[2])", "graph.SubGraphOp @net <CPU> {",
                "(%1:t[2]) -> (%3:t[2]) {", "linalg.CPU.NegOp(%1:t[2]) -> (%2:t[2])",
                "linalg.CPU.AddOp(%2:t[2], %1:t[2]) -> (%3:t[2])", "cf.ReturnOp (%3:t[2]) -> ()",
                "cf.ReturnOp (%3:t[2]) -> ()"});
  }

  TEST_CASE("code that nothing reaches is left out, which is said") {
    Lines assumed;
    CHECK(lifted(program({input(1), launch("Neg", {"1"}, "2"), output(2), kExit,
                          launch("Abs", {"2"}, "3"), label("net"), launch("Exp", {"1"}, "4"),
                          kReturn}),
                 &assumed) == Lines{"@main [mir_version:1] (%1:t[2]) -> (%2:t[2]) {",
                                    "linalg.CPU.NegOp(%1:t[2]) -> (%2:t[2])",
                                    "cf.ReturnOp (%2:t[2]) -> ()"});
    CHECK(assumed == Lines{"prog.kernel_launch left out=Abs, which nothing reaches",
                           "prog.kernel_launch left out=Exp, which nothing reaches"});
  }

  TEST_CASE("a program from before prog.exit ends with what is outside of its bodies") {
    Lines assumed;
    const std::string jump = "prog.jump net.__entry";
    CHECK(lifted(program({jump, label("net"), launch("Neg", {"1"}, "2"), kReturn,
                          launch("Abs", {"2"}, "3")}),
                 &assumed) == Lines{"@main [mir_version:1] (%1:t[2]) -> (%3:t[2]) {",
                                    "graph.CallGraphOp @net (%1:t[2]) -> (%2:t[2])",
                                    "linalg.CPU.AbsOp(%2:t[2]) -> (%3:t[2])",
                                    "graph.SubGraphOp @net <CPU> {", "(%1:t[2]) -> (%2:t[2]) {",
                                    "linalg.CPU.NegOp(%1:t[2]) -> (%2:t[2])",
                                    "cf.ReturnOp (%2:t[2]) -> ()", "cf.ReturnOp (%3:t[2]) -> ()"});
    REQUIRE(assumed.size() == 3);
    CHECK(assumed[0] == "prog.jump end of the program=after the 2 instructions outside of bodies");
    // A place that is stated must be right.
    const auto first = [&](const std::string& address) {
      return lifted(program({jump + address, label("net"), launch("Neg", {"1"}, "2"), kReturn,
                             launch("Abs", {"2"}, "3")}))
          .front();
    };
    CHECK(first("[offset:1]").starts_with("@main"));
    CHECK_FALSE(first("[offset:2]").starts_with("@main"));
  }

  TEST_CASE("programs whose order or ends are unclear are refused") {
    const std::string neg = launch("Neg", {"1"}, "2");
    CHECK(lifted("@main () -> () {\nprog.fragment @data <CPU> <data> {\n" + kExit + "\n}\n}\n") ==
          Lines{"MIR0700 builtin.ModuleOp: graph form is lost: the program has no code fragment"});
    CHECK(lifted("@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + kExit +
                 "\n}\nprog.fragment @code2 <CPU> <code> {\n" + kExit + "\n}\n}\n") ==
          Lines{"MIR0700 prog.fragment: graph form is lost: a second code fragment: which one runs "
                "first is lost"});
    CHECK(
        lifted(program({input(1), neg, output(2)})) ==
        Lines{
            "MIR0700 prog.fragment: graph form is lost: the last body of the program has no end"});
    CHECK(lifted(program({input(1), neg, output(2), kReturn})) ==
          Lines{"MIR0700 prog.ret: graph form is lost: a program ends with prog.exit, a body after "
                "a label with prog.ret"});
    CHECK(lifted(program({input(1), "prog.jump net.__entry", output(2), kExit, label("net"), neg,
                          kExit})) == Lines{"MIR0700 prog.exit: graph form is lost: a program ends "
                                            "with prog.exit, a body after a label with prog.ret"});
    CHECK(lifted(program({input(1), "prog.jump other.__entry", output(2), kExit})) ==
          Lines{"MIR0700 prog.jump: graph form is lost: no label 'other.__entry'"});
    CHECK(lifted(program({input(1), "prog.jump net.__entry", output(2), kExit, label("net"),
                          "prog.jump net.__entry", neg, kReturn})) ==
          Lines{"MIR0700 prog.jump: graph form is lost: calls that contain themselves or lie too "
                "deep have no graph form"});
    CHECK(lifted(program({input(1), neg, output(2), label("net"), neg, kReturn})) ==
          Lines{"MIR0700 prog.label: graph form is lost: the code before this label runs into it"});
    CHECK(lifted(program({input(1), "prog.jump net.__entry", output(2), kExit, label("net"), neg,
                          kReturn, label("net"), neg, kReturn})) ==
          Lines{"MIR0700 prog.label: graph form is lost: a second label 'net.__entry'"});
    CHECK(lifted(program({"prog.jump net.__entry", output(2), kExit, label("net"), input(1), neg,
                          kReturn})) == Lines{"MIR0700 prog.bind: graph form is lost: a body after "
                                              "a label binds an input or output of the program"});
    CHECK(lifted(program({input(1), output(2), kExit})) ==
          Lines{"MIR0700 builtin.ModuleOp: type of %1 is lost: it is an input that no instruction "
                "mentions; grant it with --assume='%1=tensor<...>'",
                "MIR0700 builtin.ModuleOp: type of %2 is lost: it is an input that no instruction "
                "mentions; grant it with --assume='%2=tensor<...>'"});
    CHECK(lifted(program({input(1), input(7, 1), neg, output(2), kExit})) ==
          Lines{"MIR0700 builtin.ModuleOp: type of %7 is lost: it is an input that no instruction "
                "mentions; grant it with --assume='%7=tensor<...>'"});
  }
}

TEST_SUITE("graphs that become programs") {
  TEST_CASE("a value is freed after the launch that reads it last, operands from the last") {
    CHECK(lowered("(%1:" + kT + ", %2:" + kT + ") -> (%5:" + kT + ")",
                  "linalg.CPU.NegOp (%1) -> (%3:" + kT +
                      ")\nlinalg.CPU.AddOp (%3, %2) -> (%4:" + kT +
                      ")\nlinalg.CPU.AbsOp (%4) -> (%5:" + kT + ")\ncf.ReturnOp (%5) -> ()\n") ==
          Lines{"prog.bind[type:0, program_uuid:1, input_pos:0]",
                "prog.bind[type:0, program_uuid:2, input_pos:1]",
                "prog.kernel_launch(%1:t[2]) -> (%3:t[2])[op_type:Neg, op_options:null]",
                "prog.free(%1:t[2]) -> ()",
                "prog.kernel_launch(%3:t[2], %2:t[2]) -> (%4:t[2])[op_type:Add, op_options:null]",
                "prog.free(%2:t[2]) -> ()", "prog.free(%3:t[2]) -> ()",
                "prog.kernel_launch(%4:t[2]) -> (%5:t[2])[op_type:Abs, op_options:null]",
                "prog.free(%4:t[2]) -> ()", "prog.bind[type:1, program_uuid:5, input_pos:0]"});
  }

  TEST_CASE("an input that no launch reads is freed once, so that the text has its type") {
    CHECK(lowered("(%1:" + kT + ", %2:" + kT + ") -> (%3:" + kT + ")",
                  "linalg.CPU.NegOp (%1) -> (%3:" + kT + ")\ncf.ReturnOp (%3) -> ()\n") ==
          Lines{"prog.bind[type:0, program_uuid:1, input_pos:0]",
                "prog.bind[type:0, program_uuid:2, input_pos:1]",
                "prog.kernel_launch(%1:t[2]) -> (%3:t[2])[op_type:Neg, op_options:null]",
                "prog.free(%1:t[2]) -> ()", "prog.bind[type:1, program_uuid:3, input_pos:0]",
                "prog.free(%2:t[2]) -> ()"});
  }

  TEST_CASE("graphs that nothing calls and devices of graphs are lost, symbolic extents refused") {
    const std::string body = " { (%a:" + kT + ") -> (%b:" + kT +
                             ") { linalg.CPU.NegOp (%a) -> (%b:" + kT +
                             ")\ncf.ReturnOp (%b) -> () } }\n";
    CHECK(lowered("(%1:" + kT + ") -> (%2:" + kT + ")",
                  "graph.SubGraphOp @net <QNN>" + body + "graph.SubGraphOp @other <CPU>" + body +
                      "graph.CallGraphOp @net (%1) -> (%2:" + kT + ")\ncf.ReturnOp (%2) -> ()\n") ==
          Lines{"prog.bind[type:0, program_uuid:1, input_pos:0]", "prog.jump net.__entry[offset:3]",
                "prog.bind[type:1, program_uuid:3, input_pos:0]",
                "prog.kernel_launch(%1:t[2]) -> (%3:t[2])[op_type:Neg, op_options:null]",
                "prog.free(%1:t[2]) -> ()", "device=QNN", "graph that nothing calls=other"});
    CHECK(
        lowered("(%1:" + t("$S") + ") -> (%2:" + t("$S") + ")",
                "linalg.CPU.NegOp (%1) -> (%3:" + t("$S") +
                    ")\nlinalg.CPU.AbsOp (%3) -> (%2:" + t("$S") + ")\ncf.ReturnOp (%2) -> ()\n") ==
        Lines{
            "MIR0700 builtin.ModuleOp: program form is lost: programs print the extents of one "
            "trace, not tensor<[$S], Float32, CPU> and those of 2 other values; bind-symbols sets "
            "symbols"});
    CHECK(lowered("(%1:" + t("$S") + ") -> (%1:" + t("$S") + ")", "cf.ReturnOp (%1) -> ()\n") ==
          Lines{"MIR0700 builtin.ModuleOp: program form is lost: programs print the extents of one "
                "trace, not tensor<[$S], Float32, CPU>; bind-symbols sets symbols"});
  }
}

}  // namespace programs_test
