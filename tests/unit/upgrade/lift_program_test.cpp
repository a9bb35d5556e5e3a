#include "upgrade/lift_program.hpp"

#include "../ir/read.hpp"
#include "mir/print.hpp"
#include "mir/writer.hpp"

using namespace mir;
using mir::test::lines_of;
using mir::test::Reading;

namespace {

using Lines = std::vector<std::string>;

const std::string kT = "tensor<[2], Float32, CPU>";

std::string launch(const std::string& in, const std::string& out, const std::string& type,
                   const std::string& options = "null") {
  return "prog.kernel_launch(%" + in + ":" + kT + ") -> (%" + out + ":" + kT + ")[op_type:" + type +
         ", op_options:" + options + "]\n";
}

std::string code(const std::string& instructions) {
  return "@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + instructions + "}\n}\n";
}

struct Lifted {
  explicit Lifted(const std::string& text, const Lines& facts = {}) : reading(text) {
    REQUIRE(reading.errors() == Lines{});
    UpgradeOptions options;
    for (const std::string& fact : facts) REQUIRE(grant(options, fact));
    good = lift_program(reading.module(), options, report, diagnostics);
    CHECK(good == !diagnostics.has_errors());
    CHECK(good == (report.count(LossEntry::Source::kRefused) == 0));
  }
  /// Why it is refused, without places.
  std::string refusal() const {
    std::string why;
    for (const LossEntry& entry : report.entries) {
      if (entry.source == LossEntry::Source::kRefused) why += entry.fact + ": " + entry.used + "; ";
    }
    return why;
  }
  std::string text() { return print(reading.module()); }

  Reading reading;
  LossReport report;
  Diagnostics diagnostics{0};
  bool good = false;
};

const std::string kExit = "prog.exit() -> ()\n";

}  // namespace

TEST_SUITE("lift-program") {
  TEST_CASE("a body takes what it reads first and gives what is read after it") {
    Lifted lifted(
        code("prog.bind[type:0, program_uuid:1, input_pos:0]\n"
             "prog.jump a.__entry\n" +
             launch("3", "5", "SiLU") + "prog.bind[type:1, program_uuid:5, input_pos:0]\n" + kExit +
             "prog.label[symbol:a.__entry]\n" + launch("1", "2", "SiLU") + launch("2", "3", "Neg") +
             launch("3", "4", "Exp") + "prog.ret\n"));
    REQUIRE(lifted.good);
    const std::string text = lifted.text();
    CHECK(text.starts_with("@main (%1:" + kT + ") -> (%5:" + kT +
                           ") {\n    graph.CallGraphOp @a (%1:" + kT + ") -> (%3:" + kT + ")\n"));
    CHECK(text.find("graph.SubGraphOp @a <CPU> {\n        (%1:" + kT + ") -> (%3:" + kT + ") {") !=
          text.npos);
    CHECK(text.find("linalg.CPU.ExpOp(%3:" + kT + ") -> (%4:") != text.npos);
    CHECK(text.find("prog.") == text.npos);
  }

  TEST_CASE("a body that runs twice is one graph with two calls") {
    Lifted lifted(
        code("prog.bind[type:0, program_uuid:1, input_pos:0]\n"
             "prog.jump a.__entry\nprog.jump a.__entry\n"
             "prog.bind[type:1, program_uuid:1, input_pos:0]\n" +
             kExit + "prog.label[symbol:a.__entry]\n" + launch("1", "1", "SiLU") + "prog.ret\n"));
    REQUIRE(lifted.good);
    std::size_t calls = 0, graphs = 0;
    IRWriter(lifted.reading.module()).walk<OpView>([&](IRWriter&, OpView op) {
      calls += isa<CallGraphOp>(op.op());
      graphs += isa<SubGraphOp>(op.op());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    CHECK(calls == 2);
    CHECK(graphs == 1);
  }

  TEST_CASE("bindings are ordered by position, and unbound storage comes behind them") {
    Lifted lifted(
        code("prog.bind[type:0, program_uuid:1, input_pos:1]\n"
             "prog.bind[type:0, program_uuid:2, input_pos:0]\n" +
             launch("1", "4", "SiLU") + launch("2", "5", "SiLU") + launch("3", "6", "SiLU") +
             "prog.bind[type:1, program_uuid:4, input_pos:1]\n"
             "prog.bind[type:1, program_uuid:6, input_pos:0]\n" +
             kExit));
    REQUIRE(lifted.good);
    CHECK(lifted.text().starts_with("@main (%2:" + kT + ", %1:" + kT + ", %3:" + kT +
                                    ") -> (%6:" + kT + ", %4:" + kT + ")"));
    CHECK(lifted.report.count(LossEntry::Source::kAssumed) == 1);
  }

  TEST_CASE("declared values keep their notes, and what no graph has a place for is reported") {
    const std::string recipe = "[quant_recipe:QuantSpec(Raw(type: Float32), uuid=3, solved=0)]";
    Lifted lifted(
        "@main () -> () {\nprog.fragment @code <CPU> <code> {\nprog.mode_config[flag:1]\n"
        "prog.bind[type:0, program_uuid:1, input_pos:0]\n" +
        launch("1", "2", "SiLU, symbol_name:a") + "prog.free(%1:" + kT + ") -> ()\n" +
        "prog.bind[type:1, program_uuid:2, input_pos:0]\n" + kExit +
        "}\nprog.fragment @table <CPU> <table> {\nprog.value_symbol() -> (%9:" + kT + "[@w]" +
        recipe +
        ")[symbol:w]\nprog.kernel_symbol[symbol:a, op_type:SiLU, op_options:null]\n"
        "prog.kernel_symbol[symbol:b, op_type:SiLU, op_options:null]\n}\n}\n");
    REQUIRE(lifted.good);
    CHECK(lifted.text().find(kT + "[@w]" + recipe + ")[symbol:w]") != std::string::npos);
    Lines dropped;
    for (const LossEntry& entry : lifted.report.entries) {
      if (entry.source != LossEntry::Source::kDropped) continue;
      dropped.push_back(entry.op + " " + entry.fact + "=" + entry.used);
    }
    CHECK(dropped == Lines{"prog.mode_config flag=1", "builtin.ModuleOp prog.free operations=1",
                           "prog.kernel_symbol name of an op that nothing runs=b"});
  }

  TEST_CASE("an input that no instruction mentions has the type that is granted") {
    const std::string text = code(
        "prog.bind[type:0, program_uuid:7, input_pos:0]\n"
        "prog.bind[type:1, program_uuid:7, input_pos:0]\n" +
        kExit);
    Lifted lost(text);
    CHECK(lost.refusal() ==
          "type of %7: it is an input that no instruction mentions; grant it with "
          "--assume='%7=tensor<...>'; ");
    Lifted granted(text, {"%8=" + kT, "%7=" + kT});
    REQUIRE(granted.good);
    CHECK(granted.text().starts_with("@main (%7:" + kT + ") -> (%7:" + kT + ") {"));
    Lifted unread(text, {"%7=tensor<[2"});
    CHECK(unread.refusal() == "type of %7: what is granted cannot be read; ");
  }

  TEST_CASE("options become attributes, an unknown type keeps its name") {
    Lifted lifted(code(launch("1", "2", "Softmax", "{\"axis\":-1,\"no\":null}") +
                       launch("2", "3", "MyKernel") +
                       "prog.bind[type:1, program_uuid:3, input_pos:0]\n" + kExit));
    REQUIRE(lifted.good);
    CHECK(lifted.text().find("linalg.CPU.SoftmaxOp [axis:-1] (%1") != std::string::npos);
    CHECK(lifted.text().find("linalg.CPU.MyKernel(%2") != std::string::npos);
  }

  TEST_CASE("launches inside graphs are lifted in place") {
    Lifted lifted("@main () -> () {\ngraph.SubGraphOp @a <CPU> {\n(%1:" + kT + ") -> (%2:" + kT +
                  ") {\n" + launch("1", "2", "SiLU") + "prog.free(%1:" + kT +
                  ") -> ()\nprog.ret\n}\n}\n}\n");
    REQUIRE(lifted.good);
    CHECK(lifted.text().find("linalg.CPU.SiLUOp(%1:" + kT + ") -> (%2:" + kT +
                             ")\n            cf.ReturnOp (%2:" + kT + ") -> ()\n") !=
          std::string::npos);
  }

  TEST_CASE("code that is no call tree is refused") {
    const std::string label = "prog.label[symbol:a.__entry]\n";
    CHECK(Lifted(code("prog.jump b.__entry\n" + kExit)).refusal() ==
          "graph form: no label 'b.__entry'; ");
    CHECK(Lifted(code("prog.jump a.__entry\n" + kExit + label + "prog.jump a.__entry\nprog.ret\n"))
              .refusal() ==
          "graph form: calls that contain themselves or lie too deep have no graph form; ");
    CHECK(Lifted(code(kExit + label)).refusal() ==
          "graph form: the last body of the program has no end; ");
    CHECK(Lifted(code(kExit + label + "prog.ret\n" + label + "prog.ret\n")).refusal() ==
          "graph form: a second label 'a.__entry'; ");
    CHECK(Lifted(code(label + "prog.ret\n")).refusal() ==
          "graph form: the code before this label runs into it; ");
    CHECK(Lifted(code(kExit + label + kExit)).refusal() ==
          "graph form: a program ends with prog.exit, a body behind a label with prog.ret; ");
    CHECK(Lifted("@main () -> () {\nprog.fragment @a <CPU> <data> {}\n}\n").refusal() ==
          "graph form: the program has no code segment; ");
    CHECK(Lifted("@main () -> () {\nprog.fragment @a <CPU> <code> {" + kExit +
                 "}\nprog.fragment @b <CPU> <code> {" + kExit + "}\n}\n")
              .refusal() == "graph form: a second code segment: which one runs first is lost; ");
    CHECK(Lifted(code("prog.jump a.__entry\n" + kExit + label +
                      "prog.bind[type:0, program_uuid:1, input_pos:0]\nprog.ret\n"))
              .refusal() ==
          "graph form: a body behind a label binds an input or output of the program; ");
    CHECK(Lifted("@main () -> () {\nlinalg.CPU.SiLUOp(%1:" + kT + ") -> (%2:" + kT +
                 ")\nprog.fragment @a <CPU> <code> {" + kExit + "}\n}\n")
              .refusal() == "graph form: it stands outside the program's fragments; ");
    CHECK(Lifted(code("prog.alloc() -> (%1:" + kT + ")\n" + kExit)).refusal() ==
          "graph form: graphs have no such operation; ");
    CHECK(Lifted(code("prog.bind[type:0, program_uuid:1, input_pos:0]\n" + kExit)).refusal() ==
          "type of %1: it is an input that no instruction mentions; grant it with "
          "--assume='%1=tensor<...>'; ");
    CHECK(Lifted(code("prog.bind[type:1, program_uuid:1, input_pos:0]\n" + kExit)).refusal() ==
          "type of %1: it is an input that no instruction mentions; grant it with "
          "--assume='%1=tensor<...>'; ");
  }

  TEST_CASE("a module without instructions is left as it is") {
    Lifted lifted("@main () -> () {\nlinalg.CPU.SiLUOp(%1:" + kT + ") -> (%2:" + kT + ")\n}\n");
    CHECK(lifted.good);
    CHECK(lifted.report.entries.empty());
  }

  TEST_CASE("code that nothing reaches is left out and named") {
    Lifted lifted(
        code("prog.bind[type:0, program_uuid:1, input_pos:0]\nprog.jump a.__entry\n"
             "prog.bind[type:1, program_uuid:2, input_pos:0]\n" +
             kExit + launch("2", "3", "Neg") + "prog.label[symbol:a.__entry]\n" +
             launch("1", "2", "SiLU") + "prog.ret\nprog.label[symbol:b.__entry]\n" +
             "prog.kernel_launch(%1:" + kT + ") -> (%4:" + kT +
             ")[symbol_name:b.x, op_type:Exp, op_options:null]\nprog.ret\n"));
    REQUIRE(lifted.good);
    CHECK(lifted.text().find("NegOp") == std::string::npos);
    Lines left;
    for (const LossEntry& entry : lifted.report.entries) {
      if (entry.fact == "left out") left.push_back(entry.used);
    }
    CHECK(left == Lines{"Neg, which nothing reaches", "Exp 'b.x', which nothing reaches"});
  }
}
