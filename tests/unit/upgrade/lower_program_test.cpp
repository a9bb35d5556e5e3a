// Portable modules as programs of upstream's machine.
#include "upgrade/lower_program.hpp"

#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace lower_program_test {

namespace {

/// The program, or the first error.
std::string lowered(const std::string& text, LossReport* losses = nullptr) {
  Reading reading(text);
  REQUIRE(reading.errors() == Lines{});
  LossReport report;
  Diagnostics problems(0);
  const bool good = lower_program(*reading.modules.front(), report, problems);
  CHECK(good == !problems.has_errors());
  if (losses != nullptr) *losses = report;
  return good ? print(*reading.modules.front()) : lines_of(problems, reading.context).front();
}

std::string portable(const std::string& inputs, const std::string& outputs,
                     const std::string& ops) {
  return "@main [mir_version:1] (" + inputs + ") -> (" + outputs + ") {\n" + ops + "}\n";
}

const std::string kX = "%1:" + t("2, 4");

}  // namespace

TEST_SUITE("lower-program") {
  TEST_CASE("graphs become bodies, ops launches with their options, storage ends with its reader") {
    const std::string text = lowered(portable(
        kX, "%9:" + t("2, 2"),
        "graph.SubGraphOp @init <notype> {\n() -> () {\ntensor.CPU.register () -> (%5:" +
            t("4, 4") + "[@net.fc.weight])[symbol:net.fc.weight]\n}\n}\n" +
            "graph.CallGraphOp @net (" + kX + ") -> (%9:" + t("2, 2") + ")\n" +
            "graph.SubGraphOp @net <CPU> {\n(" + kX + ") -> (%4:" + t("2, 2") + ") {\n" +
            "linalg.CPU.LinearOp <name=\"net.fc\"> [in_channels:4, out_channels:4, bias:false] (" +
            kX + ") -> (%2:" + t("2, 4") + ")\n" + "linalg.CPU.MulOp(%2:" + t("2, 4") +
            ", %6:" + t("1") + "[constant:[0.5]]) -> (%3:" + t("2, 4") + ")\n" +
            "linalg.CPU.AddOp(" + kX + ", %3:" + t("2, 4") + ") -> (%7:" + t("2, 4") + ")\n" +
            "linalg.CPU.SliceOp [indices:[{}, {\"end\":2}]] (%7:" + t("2, 4") +
            ") -> (%4:" + t("2, 2") + ")\n" + "cf.ReturnOp (%4:" + t("2, 2") + ") -> ()\n}\n}\n" +
            "cf.ReturnOp (%9:" + t("2, 2") + ") -> ()\n"));
    const std::string linear =
        "op_type:Linear, op_options:{\"bias\":false,\"in_channels\":4,\"out_channels\":4}]";
    CHECK(text ==
          "@main () -> () {\n"
          "    prog.fragment @deinit <CPU> <data> {\n"
          "        addr:0xffffffffffffffff prog.label[symbol:deinit.__entry]\n"
          "    }\n"
          "    prog.fragment @__MLLM_JIT_PACKAGE_CODE_SEGMENT <CPU> <code> {\n"
          "        addr:0x00000000000000 prog.mode_config[flag:1]\n"
          "        addr:0x00000000000001 prog.bind[type:0, program_uuid:1, input_pos:0]\n"
          "        addr:0x00000000000002 prog.jump net.__entry[offset:3]\n"
          "        addr:0x00000000000003 prog.bind[type:1, program_uuid:4, input_pos:0]\n"
          "        addr:0x00000000000004 prog.exit() -> ()\n"
          "        addr:0x00000000000005 prog.label[symbol:net.__entry]\n"
          "        addr:0x00000000000006 prog.kernel_launch(" +
              kX + ") -> (%2:" + t("2, 4") + ")[symbol_name:net.fc, " + linear +
              "\n"
              "        addr:0x00000000000007 prog.kernel_launch(%2:" +
              t("2, 4") + ", %6:" + t("1") + "[constant:[0.5]]) -> (%3:" + t("2, 4") +
              ")[op_type:Mul, op_options:null]\n" + "        addr:0x00000000000008 prog.free(%2:" +
              t("2, 4") + ") -> ()\n" + "        addr:0x00000000000009 prog.kernel_launch(" + kX +
              ", %3:" + t("2, 4") + ") -> (%7:" + t("2, 4") + ")[op_type:Add, op_options:null]\n" +
              "        addr:0x0000000000000a prog.free(%3:" + t("2, 4") + ") -> ()\n" +
              "        addr:0x0000000000000b prog.free(" + kX + ") -> ()\n" +
              "        addr:0x0000000000000c prog.kernel_launch(%7:" + t("2, 4") +
              ") -> (%4:" + t("2, 2") +
              ")[op_type:Slice, op_options:{\"indices\":[{\"end\":2147483633,\"start\":2147483633,"
              "\"step\":1},{\"end\":2,\"start\":2147483633,\"step\":1}]}]\n" +
              "        addr:0x0000000000000d prog.free(%7:" + t("2, 4") + ") -> ()\n" +
              "        addr:0x0000000000000e prog.ret\n"
              "    }\n"
              "    prog.fragment @__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT <CPU> <table> {\n"
              "        addr:0x00000000000000 prog.value_symbol() -> (%5:" +
              t("4, 4") + "[@net.fc.weight][symbol:net.fc.weight])[symbol:net.fc.weight]\n" +
              "        addr:0x00000000000001 prog.value_symbol() -> (%6:" + t("1") +
              "[constant:[0.5]])[symbol:constant_6]\n"
              "        addr:0x00000000000002 prog.kernel_symbol[symbol:net.fc, " +
              linear +
              "\n"
              "    }\n"
              "}\n");
    // It is a dump that upgrades to a module of the same ops.
    Upgraded again(text);
    REQUIRE(again.good);
    CHECK(again.problems() == Lines{});
    CHECK(has(print(again.module()), "linalg.CPU.SliceOp [indices:[{\"end\":2147483633"));
  }

  TEST_CASE("values of one number in two graphs get slots of their own, outputs are not freed") {
    const std::string text = lowered(
        portable(kX, "%2:" + t("2, 4") + ", %3:" + t("2, 4"),
                 "graph.CallGraphOp @a (" + kX + ") -> (%2:" + t("2, 4") + ")\n" +
                     "linalg.CPU.NegOp(%2:" + t("2, 4") + ") -> (%3:" + t("2, 4") + ")\n" +
                     "graph.SubGraphOp @a <CPU> {\n(%8:" + t("2, 4") + ") -> (%3:" + t("2, 4") +
                     ") {\n" + "linalg.CPU.ExpOp(%8:" + t("2, 4") + ") -> (%3:" + t("2, 4") +
                     ")\n" + "cf.ReturnOp (%3:" + t("2, 4") + ") -> ()\n}\n}\n" +
                     "cf.ReturnOp (%2:" + t("2, 4") + ", %3:" + t("2, 4") + ") -> ()\n"));
    // Outputs are bound from the last to the first.
    CHECK(has(text, "prog.bind[type:1, program_uuid:9, input_pos:1]\n"));
    CHECK(has(text, "prog.bind[type:1, program_uuid:3, input_pos:0]\n"));
    CHECK(has(text, "prog.kernel_launch(" + kX + ") -> (%3:" + t("2, 4") + ")[op_type:Exp"));
    CHECK(has(text, "prog.kernel_launch(%3:" + t("2, 4") + ") -> (%9:"));
    CHECK_FALSE(has(text, "prog.free(%3"));
    CHECK(has(text, "prog.free(" + kX));
  }

  TEST_CASE("a constant that a call hands over is one wherever it is read") {
    const std::string constant = "%6:" + t("1") + "[constant:[0.5]]";
    const std::string text = lowered(
        portable(kX, "%2:" + t("2, 4"),
                 "graph.CallGraphOp @a (" + kX + ", " + constant + ") -> (%2:" + t("2, 4") + ")\n" +
                     "graph.SubGraphOp @a <CPU> {\n(" + kX + ", %7:" + t("1") +
                     ") -> (%2:" + t("2, 4") + ") {\nlinalg.CPU.MulOp(" + kX + ", %7:" + t("1") +
                     ") -> (%2:" + t("2, 4") + ")\ncf.ReturnOp (%2:" + t("2, 4") +
                     ") -> ()\n}\n}\ncf.ReturnOp (%2:" + t("2, 4") + ") -> ()\n"));
    CHECK(has(text, "prog.kernel_launch(" + kX + ", " + constant + ") -> (%2:"));
    CHECK(has(text, "[symbol:constant_6]"));
  }

  TEST_CASE("notes that are no options are dropped, and the report says so") {
    LossReport losses;
    const std::string text = lowered(
        portable(kX, "%2:" + t("2, 4"),
                 "linalg.CPU.SoftmaxOp [axis:-1, using_qnn:true] (" + kX + ") -> (%2:" + t("2, 4") +
                     ")\ncf.ReturnOp (%2:" + t("2, 4") + ") -> ()\n"),
        &losses);
    CHECK(has(text, "op_options:{\"axis\":-1}]"));
    REQUIRE(losses.entries.size() == 1);
    CHECK(losses.entries[0].source == Source::kDropped);
    CHECK(losses.entries[0].fact == "using_qnn");
  }

  TEST_CASE("what has no program is refused") {
    const std::string s = "tensor<[$S], Float32, CPU>";
    CHECK(has(lowered(portable("%1:" + s, "%1:" + s, "cf.ReturnOp (%1:" + s + ") -> ()\n")),
              "program form is lost: programs print the extents of one trace"));
    const std::string call = "graph.CallGraphOp @a (" + kX + ") -> (%";
    CHECK(has(lowered(portable(kX, "%3:" + t("2, 4"),
                               call + "2:" + t("2, 4") + ")\n" + call + "3:" + t("2, 4") + ")\n" +
                                   "graph.SubGraphOp @a <CPU> {\n(" + kX + ") -> (" + kX +
                                   ") {\ncf.ReturnOp (" + kX + ") -> ()\n}\n}\n" +
                                   "cf.ReturnOp (%3:" + t("2, 4") + ") -> ()\n")),
              "a graph that two calls lead to has no slots of its own"));
  }
}

}  // namespace lower_program_test
