// What some versions of upstream printed for weeks: programs without an end, numbers for names, ids
// of a wrong type, modules without parameters.
#include <algorithm>

#include "mir/upgrade.hpp"
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace mir::test::older_dumps {

std::string launch(const std::string& in, const std::string& out, const std::string& type,
                   const std::string& options = "null") {
  return "prog.kernel_launch(" + in + ") -> (" + out + ")[op_type:" + type +
         ", op_options:" + options + "]\n";
}

std::string value(int id, const std::string& dims) {
  return "%" + std::to_string(id) + ":" + t(dims);
}

/// The portable text and what was assumed; or the errors.
std::string upgraded_text(const std::string& text, const Lines& facts = {}) {
  UpgradeOptions options = kGranted;
  for (const std::string& fact : facts) REQUIRE(grant(options, fact));
  Upgraded net(text, options);
  std::string out;
  if (!net.good) {
    for (const std::string& error : net.errors()) out += error + "\n";
    return out;
  }
  CHECK(net.problems() == Lines{});
  out = print(net.module());
  for (const std::string& entry : net.entries(Source::kAssumed)) out += "|" + entry;
  return out;
}

std::string program(const std::string& code) {
  return "@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + code + "}\n}\n";
}

TEST_SUITE("older dumps") {
  TEST_CASE("a program that nothing ends runs what lies outside of its bodies") {
    const std::string text = upgraded_text(
        program("addr:0x00000000000000 " + launch(value(1, "2"), value(2, "2"), "Neg") +
                "addr:0x00000000000001 prog.jump a.__entry[offset:1]\n"
                "addr:0x00000000000002 prog.label[symbol:a.__entry]\n"
                "addr:0x00000000000003 " +
                launch(value(2, "2"), value(3, "2"), "SiLU") +
                "addr:0x00000000000004 prog.ret\n"
                "addr:0x00000000000005 " +
                launch(value(3, "2"), value(4, "2"), "ReLU") +
                "addr:0x00000000000006 prog.jump b.__entry[offset:1]\n"
                "addr:0x00000000000007 prog.label[symbol:b.__entry]\n"
                "addr:0x00000000000008 " +
                launch(value(4, "2"), value(5, "2"), "GELU") + "addr:0x00000000000009 prog.ret\n"));
    const auto order = {"NegOp", "CallGraphOp @a", "ReLUOp", "CallGraphOp @b", "cf.ReturnOp"};
    std::size_t at = 0;
    for (const char* const each : order) {
      CAPTURE(each);
      REQUIRE(text.find(each, at) != text.npos);
      at = text.find(each, at);
    }
    CHECK(has(text, "(%1:" + t("2") + ") -> ("));
    CHECK(has(text,
              "|prog.kernel_launch end of the program=behind the 4 instructions outside of "
              "bodies"));
    CHECK(has(text, "|prog.kernel_launch output of the program=what nothing reads"));
  }

  TEST_CASE("a number that scales scores is a constant of its graph also in programs") {
    const std::string scores = value(3, "2, 4, 4");
    const std::string text = upgraded_text(
        program("prog.bind[type:0, program_uuid:1, input_pos:0]\nprog.bind[type:0, program_uuid:2, "
                "input_pos:1]\n" +
                launch(value(1, "2, 4, 16") + ", " + value(2, "2, 4, 16"), scores, "MatMul",
                       "{\"transpose_a\":false,\"transpose_b\":true}") +
                launch(scores + ", " + value(9, "1"), scores, "Mul") +
                launch(scores, value(4, "2, 4, 4"), "Softmax", "{\"axis\":-1}") +
                launch(value(4, "2, 4, 4") + ", " + value(8, "1"), value(5, "2, 4, 4"), "Mul") +
                "prog.bind[type:1, program_uuid:5, input_pos:0]\nprog.exit() -> ()\n"));
    CHECK(has(text, "%9:" + t("1") + "[constant:[0.25]]"));
    CHECK(has(text, "@main [mir_version:1] (%1:" + t("2, 4, 16") + ", %2:" + t("2, 4, 16") +
                        ", %8:" + t("1") + ") ->"));
  }

  TEST_CASE("the taps of a Conv1D lie as far apart as gives what is printed") {
    const auto conv = [](const std::string& out) {
      return upgraded_text(program(
          "prog.bind[type:0, program_uuid:1, input_pos:0]\n" +
          launch(
              value(1, "1, 8, 12"), value(2, out), "Conv1D, symbol_name:c",
              "{\"bias\":true,\"groups\":8,\"in_channels\":8,\"kernel_size\":7,\"out_channels\":8,"
              "\"padding\":6,\"stride\":1}") +
          "prog.bind[type:1, program_uuid:2, input_pos:0]\nprog.exit() -> ()\n"));
    };
    CHECK(has(conv("1, 8, 12"), "|linalg.Conv1DOp 'c' dilation=2"));
    CHECK(has(conv("1, 8, 18"), "|linalg.Conv1DOp 'c' dilation=1"));
    CHECK(has(conv("1, 8, 17"), "type of result 0 is lost"));
  }

  TEST_CASE("the implementation that upstream numbers 0 is its default") {
    const std::string text = upgraded_text(program(
        "prog.bind[type:0, program_uuid:1, input_pos:0]\n" +
        launch(value(1, "1, 3, 2, 14, 14"), value(2, "1, 8, 1, 1, 1"), "Conv3D, symbol_name:c",
               "{\"bias\":false,\"impl_type\":0,\"in_channels\":3,\"kernel_size\":[2,14,14],"
               "\"out_channels\":8,\"stride\":[2,14,14]}") +
        "prog.bind[type:1, program_uuid:2, input_pos:0]\nprog.exit() -> ()\n"));
    CHECK(has(text, "impl_type:\"Default\""));
  }

  TEST_CASE("positions are the integer input that nothing else reads, as far as it was viewed") {
    const auto graph = [](const std::string& ops) {
      return "@main () -> () {\ngraph.CallGraphOp @g (" + value(0, "1, 9, 4") +
             ", %1:" + t("1, 3", "Int64") + ") -> (" + value(2, "1, 3, 4") +
             ")\ngraph.SubGraphOp @g <CPU> {\n(" + value(0, "1, 9, 4") +
             ", %1:" + t("1, 3", "Int64") + ") -> (" + value(2, "1, 3, 4") + ") {\n" + ops +
             "cf.ReturnOp (" + value(2, "1, 3, 4") + ") -> ()\n}\n}\n}\n";
    };
    const std::string view =
        "linalg.CPU.ViewOp(%1:" + t("1, 3", "Int64") + ") -> (%1:" + t("3", "Int64") + ")\n";
    const std::string index =
        "linalg.CPU.IndexOp(" + value(0, "1, 9, 4") + ") -> (" + value(2, "1, 3, 4") + ")\n";
    CHECK(has(upgraded_text(graph(view + index)), "IndexOp [indices:[{}, 1, {}]] (%0:"));
    CHECK(has(upgraded_text(graph(view + index)), "|linalg.IndexOp operand 1=" + t("3", "Int64")));
    // A view behind the pick does not reach it, and what something else reads is no position.
    CHECK(
        has(upgraded_text(graph(index + view)), "|linalg.IndexOp operand 1=" + t("1, 3", "Int64")));
    // Indices may be granted that pick by it otherwise.
    const std::string granted =
        upgraded_text(graph(view + index), {"Index.indices=[{}, 1, [0, 1, 2, 3]]"});
    CHECK(has(granted, "IndexOp [indices:[{}, 1, [0, 1, 2, 3]]] (%0:" + t("1, 9, 4") + ", %"));
    CHECK(has(granted, "|linalg.IndexOp operand 1=" + t("3", "Int64")));
    CHECK(has(upgraded_text(graph(index + view)),
              "|linalg.IndexOp type of result 0=" + t("1, 1, 3, 4")));
    CHECK(has(upgraded_text(graph(view + "linalg.CPU.NegOp(%1:" + t("3", "Int64") +
                                  ") -> (%7:" + t("3", "Int64") + ")\n" + index)),
              "indices is lost"));
  }

  TEST_CASE("ids of no integer type are cast to the type that upstream's kernel reads") {
    CHECK(has(upgraded_text(
                  dump({parameter("e.weight", "10, 4"), "linalg.CPU.EmbeddingOp(%0:" + t("1, 3") +
                                                            ") -> (%1:" + t("1, 3, 4") + ")"})),
              "CastTypeOp [dtype:Int64] (%0:" + t("1, 3") + ")"));
  }

  TEST_CASE("what a module without registers reads follows from the notes at its ops") {
    const auto spec = [](const std::string& block) {
      return "QuantSpec(LPBQ(quant_min: -8, quant_max: 7, block_size: " + block +
             ", ch_axis: 0, scale_level_0_bitwidth: 4, quant_to_type: UInt4, scale_1_type: "
             "Float32), uuid=3, solved=1)";
    };
    const auto asym = [](int uuid) {
      return "QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, "
             "scale_type: Float32, zero_point_type: Int32), uuid=" +
             std::to_string(uuid) + ", solved=1)";
    };
    const auto op = [&](const std::string& name, const std::string& in, const std::string& out,
                        const std::string& dtype = "UInt16PerTensor") {
      return "@main () -> () {\nlinalg.CPU." + name +
             " <name=\"p\"> [quant_recipe:QuantAnnotation(" + "inputs_0:" + asym(1) +
             ", outputs_0:" + asym(2) + ", weight_weight:" + spec("32") + ")] (%0:" + t(in, dtype) +
             "[quant_recipe:" + asym(1) + "]) -> (%1:" + t(out, dtype) +
             "[quant_recipe:" + asym(2) + "])\n}\n";
    };
    const std::string conv = upgraded_text(op("Conv2DOp", "1, 1, 8, 64", "1, 1, 8, 96"));
    CHECK(has(conv, "register () -> (%2:" + t("1, 1, 64, 96", "Int8")));
    CHECK(has(conv, "impl_type:QNN_LPBQ_w4a16o16_G32"));
    CHECK(has(conv, "|linalg.Conv2DOp 'p' kernel_size=[1, 1]"));
    // The recipe of a Linear's weight does not fit channels that lie behind.
    CHECK(has(conv, "|linalg.Conv2DOp 'p' recipe of .weight=QuantSpec(LPBQ(quant_min: -7"));
    CHECK(has(upgraded_text(op("Conv2DOp", "1, 8, 8, 64", "1, 4, 4, 96")),
              "kernel_size is lost: its weight does not show its kernel; grant it with "
              "--assume='p.kernel_size=...'"));
    const std::string linear = upgraded_text(op("LinearOp", "8, 64", "8, 96", "Float32"));
    CHECK(has(linear, t("96, 64") + "[@p.weight][quant_recipe:" + spec("32") + "]"));
    const std::string ids =
        "linalg.CPU.EmbeddingOp <name=\"e\">(%0:" + t("3", "Int32") + ") -> (%1:" + t("3, 4") + ")";
    CHECK(has(upgraded_text(dump({ids})),
              "vocab_size is lost: its table is not registered; grant it "
              "with --assume='e.vocab_size=...'"));
    CHECK(has(upgraded_text(dump({ids}), {"e.vocab_size=9"}), t("9, 4") + "[@e.weight]"));
  }

  TEST_CASE("a dump of the first version upgrades, and comes back in its spelling") {
    const std::string first =
        "@main () -> (){\n"
        "graph.CallGraphOp @m (%1:tensor<[1, 8], kInt64, kCPU>) -> "
        "(%3:tensor<[1, 8, 12, 2], kFp32, kCPU>)\n"
        "graph.SubGraphOp @m <kCPU>{\n"
        "(%1:tensor<[1, 8], kInt64, kCPU>) -> (%3:tensor<[1, 8, 12, 2], kFp32, kCPU>){\n"
        "linalg.kCPU.LLMEmbeddingTokenOp(%1:tensor<[1, 8], kInt64, kCPU>) -> "
        "(%2:tensor<[1, 8, 24], kFp32, kCPU>)\n"
        "linalg.kCPU.ViewOp(%2:tensor<[1, 8, 24], kFp32, kCPU>) -> "
        "(%2:tensor<[1, 8, 12, 2], kFp32, kCPU>)\n"
        "linalg.kCPU.SiLUOp(%2:tensor<[1, 8, 12, 2], kFp32, kCPU>) -> "
        "(%3:tensor<[1, 8, 12, 2], kFp32, kCPU>)\n"
        "cf.ReturnOp(%3:tensor<[1, 8, 12, 2], kFp32, kCPU>) -> ()\n"
        "}\n}\n}\n";
    UpgradeOptions options;
    REQUIRE(grant(options, "Embedding.vocab_size=10"));
    Upgraded net(first, options);
    REQUIRE(net.errors() == Lines{});
    CHECK(net.problems() == Lines{});
    const std::string text = print(net.module());
    CHECK(has(text,
              "linalg.CPU.EmbeddingOp <name=\"m.Embedding.0\"> [vocab_size:10, hidden_size:24] "
              "(%1:" +
                  t("1, 8", "Int64") + ")"));
    CHECK(text.find("kCPU") == text.npos);
    CHECK(text.find("kFp32") == text.npos);
    LossReport dropped;
    Diagnostics problems(0);
    REQUIRE(downgrade(net.module(), Generation::k2025_06, dropped, problems));
    Reading again(first);
    CHECK(Isomorphism(net.module(), again.module()).difference() == "");
    const auto is_parameter = [](const LossEntry& entry) {
      return entry.fact == "parameter @m.Embedding.0.weight" && entry.used == t("10, 24");
    };
    CHECK(std::ranges::any_of(dropped.entries, is_parameter));
  }

  TEST_CASE("the first version printed nothing behind the type of a value") {
    const std::string mul = "linalg.CPU.MulOp(%0:" + t("4") + ", %1:" + t("1") +
                            "[constant:[2]]) -> (%2:" + t("4") + ")";
    const std::string add =
        "linalg.CPU.AddOp(%2:" + t("4") + ", %5:" + t("4") + "[@w]) -> (%3:" + t("4") + ")";
    Upgraded net(dump({parameter("w", "4"), mul, add}));
    REQUIRE(net.errors() == Lines{});
    LossReport dropped;
    Diagnostics problems(0);
    REQUIRE(downgrade(net.module(), Generation::k2025_06, dropped, problems));
    const std::string text = print(net.module());
    CHECK(has(text,
              "linalg.kCPU.MulOp(%0:tensor<[4], kFp32, kCPU>, %1:tensor<[1], kFp32, kCPU>) ->"));
    CHECK(has(text,
              "linalg.kCPU.AddOp(%2:tensor<[4], kFp32, kCPU>, %5:tensor<[4], kFp32, kCPU>) ->"));
    CHECK(text.find('@', 6) == text.npos);
    CHECK(std::ranges::any_of(dropped.entries, [](const LossEntry& entry) {
      return entry.fact == "constant of %1" && entry.used == "[2]";
    }));
  }
}

}  // namespace mir::test::older_dumps
