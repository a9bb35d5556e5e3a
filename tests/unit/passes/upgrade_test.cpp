#include "mir/passes/upgrade.hpp"

#include <fstream>
#include <iterator>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "../syntax/corpus.hpp"
#include "mir/ir/writer.hpp"
#include "mir/verify/verify.hpp"

using namespace mir;
using mir::test::corpus;
using mir::test::find_op;
using mir::test::Isomorphism;
using mir::test::lines_of;
using mir::test::Reading;

namespace {

using Lines = std::vector<std::string>;
using Source = LossEntry::Source;

const UpgradeOptions kGranted{.rms_epsilon = 1e-6, .layer_norm_epsilon = 1e-5};

struct Upgraded {
  explicit Upgraded(const std::string& text, const UpgradeOptions& options = kGranted)
      : reading(text) {
    CAPTURE(text);
    REQUIRE(reading.errors() == Lines{});
    good = upgrade(module(), options, report, diagnostics);
    CHECK(good == !diagnostics.has_errors());
    CHECK(good == (report.count(Source::kRefused) == 0));
    CHECK(module().is_portable() == good);
  }

  Module& module() { return *reading.modules.front(); }
  Lines errors() const { return lines_of(diagnostics, reading.context); }
  /// `op fact=value` of each entry from one source.
  Lines entries(Source source) const {
    Lines list;
    for (const LossEntry& entry : report.entries) {
      if (entry.source == source) list.push_back(entry.op + " " + entry.fact + "=" + entry.used);
    }
    return list;
  }
  /// What verification and reading the print back find wrong.
  Lines problems() {
    Diagnostics found(0);
    verify(module(), found);
    Lines list = lines_of(found, reading.context);
    Reading again(print(module()));
    for (const std::string& error : again.errors()) list.push_back("print " + error);
    if (list.empty()) {
      const std::string difference = Isomorphism(module(), again.module()).difference();
      if (!difference.empty()) list.push_back(difference);
    }
    return list;
  }

  Reading reading;
  LossReport report;
  Diagnostics diagnostics{0};
  bool good = false;
};

std::string t(const std::string& dims, const std::string& dtype = "Float32",
              const std::string& device = "CPU") {
  return "tensor<[" + dims + "], " + dtype + ", " + device + ">";
}

std::string dump(const Lines& ops) {
  std::string text = "@main () -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "}\n";
}

/// Attributes that the last linalg op gets in the portable module; `+` before those assumed. With
/// errors, these instead, without their places.
std::string recovered(const Lines& ops, const UpgradeOptions& options = kGranted) {
  Upgraded upgraded(dump(ops), options);
  std::string out;
  if (!upgraded.good) {
    for (const std::string& error : upgraded.errors()) {
      if (!out.empty()) out += "; ";
      out += error.substr(error.find("MIR") + 8);
    }
    return out;
  }
  CHECK(upgraded.problems() == Lines{});
  Op* last = nullptr;
  IRWriter(upgraded.module()).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    last = op.op();
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  for (const NamedAttr& attribute : last->attributes()) {
    const std::string key(upgraded.reading.context.text(attribute.key));
    for (const LossEntry& entry : upgraded.report.entries) {
      if (entry.fact == key && entry.source == Source::kAssumed) out += "+";
    }
    out += key + ":" + std::string(attribute.value->spelling()) + " ";
  }
  return out.empty() ? out : out.substr(0, out.size() - 1);
}

std::string op(const std::string& name, const std::string& in, const std::string& out,
               const std::string& more = "") {
  return "linalg.CPU." + name + "(%0:" + t(in) + more + ") -> (%1:" + t(out) + ")";
}

std::string parameter(const std::string& symbol, const std::string& dims) {
  return "tensor.CPU.register () -> (%5:" + t(dims) + "[@" + symbol + "])[symbol:" + symbol + "]";
}

/// As TraceFooNetTest prints it, smaller, with storage ids used again and a constant printed twice.
const std::string kNet =
    "@main () -> () {\n"
    "    graph.SubGraphOp @init <notype> {\n"
    "        () -> () {\n"
    "            " +
    parameter("net.up.weight", "3, 4") +
    "\n"
    "            " +
    parameter("net.up.bias", "3") +
    "\n"
    "            " +
    parameter("net.inner.down.weight", "4, 3") +
    "\n"
    "            " +
    parameter("net.inner.norm.weight", "4") +
    "\n"
    "            " +
    parameter("net.last.weight", "3, 4") +
    "\n"
    "        }\n"
    "    }\n"
    "    graph.SubGraphOp @deinit <notype> {\n"
    "        () -> () {\n"
    "            \n"
    "        }\n"
    "    }\n"
    "    graph.CallGraphOp @net (%8:" +
    t("2, 4") + ") -> (%9:" + t("2, 3") +
    ")\n"
    "    graph.SubGraphOp @net <CPU> {\n"
    "        (%8:" +
    t("2, 4") + ") -> (%9:" + t("2, 3") +
    ") {\n"
    "            linalg.DeviceTypes_Start.register<Linear>() -> ()[symbol:net.up]\n"
    "            linalg.CPU.LinearOp(%8:" +
    t("2, 4") + ") -> (%9:" + t("2, 3") +
    ")\n"
    "            graph.CallGraphOp @net.inner (%9:" +
    t("2, 3") + ") -> (%8:" + t("2, 4") +
    ")\n"
    "            graph.CallGraphOp @net.inner (%9:" +
    t("2, 3") + ") -> (%10:" + t("2, 4") +
    ")\n"
    "            linalg.CPU.AddOp(%8:" +
    t("2, 4") + ", %10:" + t("2, 4") + ") -> (%8:" + t("2, 4") +
    ")\n"
    "            linalg.CPU.LinearOp(%8:" +
    t("2, 4") + ") -> (%9:" + t("2, 3") +
    ")\n"
    "            tensor.CPU.free (%10:" +
    t("2, 4") +
    ") -> ()\n"
    "            cf.ReturnOp (%9:" +
    t("2, 3") +
    ") -> ()\n"
    "        }\n"
    "    }\n"
    "    graph.SubGraphOp @net.inner <CPU> {\n"
    "        (%9:" +
    t("2, 3") + ") -> (%11:" + t("2, 4") +
    ") {\n"
    "            linalg.CPU.LinearOp(%9:" +
    t("2, 3") + ") -> (%11:" + t("2, 4") +
    ")\n"
    "            linalg.CPU.MulOp(%11:" +
    t("2, 4") + ", %12:" + t("1") + "[constant: [0.5]][constant:[0.5]]) -> (%11:" + t("2, 4") +
    ")\n"
    "            linalg.CPU.RMSNormOp(%11:" +
    t("2, 4") + ") -> (%11:" + t("2, 4") +
    ")\n"
    "            cf.ReturnOp (%11:" +
    t("2, 4") +
    ") -> ()\n"
    "        }\n"
    "    }\n"
    "}\n";

}  // namespace

TEST_SUITE("upgrade") {
  TEST_CASE("a traced network becomes a portable module that verifies and reads back") {
    Upgraded net(kNet);
    REQUIRE(net.errors() == Lines{});
    CHECK(net.problems() == Lines{});
    CHECK(print(net.module()) ==
          "@main [mir_version:1] (%8:" + t("2, 4") + ") -> (%9:" + t("2, 3") +
              ") {\n"
              "    graph.SubGraphOp @init <notype> {\n"
              "        () -> () {\n"
              "            tensor.CPU.register () -> (%5:" +
              t("3, 4") +
              "[@net.up.weight])[symbol:net.up.weight]\n"
              "            tensor.CPU.register () -> (%13:" +
              t("3") +
              "[@net.up.bias])[symbol:net.up.bias]\n"
              "            tensor.CPU.register () -> (%14:" +
              t("4, 3") +
              "[@net.inner.down.weight])[symbol:net.inner.down.weight]\n"
              "            tensor.CPU.register () -> (%15:" +
              t("4") +
              "[@net.inner.norm.weight])[symbol:net.inner.norm.weight]\n"
              "            tensor.CPU.register () -> (%16:" +
              t("3, 4") +
              "[@net.last.weight])[symbol:net.last.weight]\n"
              "        }\n"
              "    }\n"
              "    graph.SubGraphOp @deinit <notype> {\n"
              "        () -> () {\n"
              "\n"
              "        }\n"
              "    }\n"
              "    graph.CallGraphOp @net (%8:" +
              t("2, 4") + ") -> (%9:" + t("2, 3") +
              ")\n"
              "    graph.SubGraphOp @net <CPU> {\n"
              "        (%8:" +
              t("2, 4") + ") -> (%19:" + t("2, 3") +
              ") {\n"
              "            linalg.CPU.LinearOp <name=\"net.up\"> [in_channels:4, out_channels:3, "
              "bias:true] (%8:" +
              t("2, 4") + ") -> (%9:" + t("2, 3") +
              ")\n"
              "            graph.CallGraphOp @net.inner (%9:" +
              t("2, 3") + ") -> (%17:" + t("2, 4") +
              ")\n"
              "            graph.CallGraphOp @net.inner (%9:" +
              t("2, 3") + ") -> (%10:" + t("2, 4") +
              ")\n"
              "            linalg.CPU.AddOp(%17:" +
              t("2, 4") + ", %10:" + t("2, 4") + ") -> (%18:" + t("2, 4") +
              ")\n"
              "            linalg.CPU.LinearOp <name=\"net.last\"> [in_channels:4, out_channels:3, "
              "bias:false] (%18:" +
              t("2, 4") + ") -> (%19:" + t("2, 3") +
              ")\n"
              "            cf.ReturnOp (%19:" +
              t("2, 3") +
              ") -> ()\n"
              "        }\n"
              "    }\n"
              "    graph.SubGraphOp @net.inner <CPU> {\n"
              "        (%9:" +
              t("2, 3") + ") -> (%21:" + t("2, 4") +
              ") {\n"
              "            linalg.CPU.LinearOp <name=\"net.inner.down\"> [in_channels:3, "
              "out_channels:4, bias:false] (%9:" +
              t("2, 3") + ") -> (%11:" + t("2, 4") +
              ")\n"
              "            linalg.CPU.MulOp(%11:" +
              t("2, 4") + ", %12:" + t("1") + "[constant:[0.5]]) -> (%20:" + t("2, 4") +
              ")\n"
              "            linalg.CPU.RMSNormOp <name=\"net.inner.norm\"> [epsilon:1e-06, "
              "add_unit_offset:false] (%20:" +
              t("2, 4") + ") -> (%21:" + t("2, 4") +
              ")\n"
              "            cf.ReturnOp (%21:" +
              t("2, 4") +
              ") -> ()\n"
              "        }\n"
              "    }\n"
              "    cf.ReturnOp (%9:" +
              t("2, 3") +
              ") -> ()\n"
              "}\n");
  }

  TEST_CASE("the report names each fact, where it comes from, and sums up") {
    Upgraded net(kNet);
    CHECK(net.entries(Source::kAssumed) ==
          Lines{"linalg.RMSNormOp 'net.inner.norm' epsilon=1e-06",
                "linalg.RMSNormOp 'net.inner.norm' add_unit_offset=false"});
    CHECK(net.entries(Source::kRefused) == Lines{});
    const Lines derived = net.entries(Source::kDerived);
    REQUIRE(derived.size() == 15);
    CHECK(derived[0] == "builtin.ModuleOp input=" + t("2, 4"));
    CHECK(derived[1] == "builtin.ModuleOp output=" + t("2, 3"));
    CHECK(derived[2] == "linalg.LinearOp 'net.up' name=net.up");
    CHECK(derived[6] == "linalg.LinearOp 'net.up' in_channels=4");
    CHECK(net.report.summary() ==
          "15 facts derived, 2 assumed (linalg.RMSNormOp add_unit_offset=false; linalg.RMSNormOp "
          "epsilon=1e-06)");
  }

  TEST_CASE("an upgraded module is left as it is") {
    Upgraded net(kNet);
    const std::string text = print(net.module());
    LossReport again;
    CHECK(upgrade(net.module(), {}, again, net.diagnostics));
    CHECK(again.entries.empty());
    CHECK(again.summary() == "0 facts derived, 0 assumed");
    CHECK(print(net.module()) == text);
    Reading reading(text);
    CHECK(upgrade(reading.module(), {}, again, reading.diagnostics));
  }

  // -- interface ----------------------------------------------------------------------------------

  TEST_CASE("inputs are what top-level ops use and nothing defines; outputs what nothing uses") {
    Upgraded two(
        dump({"linalg.CPU.AddOp(%1:" + t("2") + ", %2:" + t("2") + ") -> (%3:" + t("2") + ")",
              "linalg.CPU.MulOp(%1:" + t("2") + ", %4:" + t("1") +
                  "[constant:[2]]) -> (%5:" + t("2") + ")",
              "linalg.CPU.SiLUOp(%3:" + t("2") + ") -> (%6:" + t("2") + ")"}));
    REQUIRE(two.errors() == Lines{});
    CHECK(two.problems() == Lines{});
    CHECK(print(two.module())
              .starts_with("@main [mir_version:1] (%1:" + t("2") + ", %2:" + t("2") +
                           ") -> (%5:" + t("2") + ", %6:" + t("2") + ") {"));
    CHECK(two.module().body().free_values().size() == 1);
  }

  TEST_CASE("a return that is there already says what the outputs are") {
    Upgraded returned(dump({"linalg.CPU.SiLUOp(%1:" + t("2") + ") -> (%2:" + t("2") + ")",
                            "linalg.CPU.SiLUOp(%2:" + t("2") + ") -> (%3:" + t("2") + ")",
                            "cf.ReturnOp (%2:" + t("2") + ") -> ()"}));
    CHECK(returned.problems() == Lines{});
    CHECK(print(returned.module()).find("-> (%2:" + t("2") + ") {") != std::string::npos);
  }

  TEST_CASE("an empty module has neither") {
    Upgraded empty("@main () -> () { }\n");
    CHECK(empty.problems() == Lines{});
    IRContext context;
    register_builtin_dialects(context);
    Module& module = context.create_module();
    LossReport report;
    Diagnostics diagnostics;
    CHECK(upgrade(module, {}, report, diagnostics));
    CHECK(verify(module, diagnostics));
  }

  TEST_CASE("an input without a type is refused") {
    CHECK(Upgraded(dump({"graph.CallGraphOp @g (%1) -> ()"})).errors() ==
          Lines{"2:1 MIR0700 graph.CallGraphOp: type of an input is lost: no mention states it"});
    CHECK(Upgraded(dump({"cf.ReturnOp (%1[constant:[1]]) -> ()"})).errors().size() == 1);
  }

  TEST_CASE("a value that a graph uses and does not get is refused") {
    CHECK(Upgraded(
              dump({"graph.SubGraphOp @g <CPU> {", "() -> () {", op("SiLUOp", "2", "2"), "}", "}"}))
              .errors() == Lines{"4:1 MIR0700 linalg.SiLUOp: operand 0 is lost: nothing defines "
                                 "it: upstream does not print this constant or input"});
    CHECK(recovered({"graph.SubGraphOp @g <CPU> {", "() -> () {",
                     "linalg.CPU.SiLUOp(%0:" + t("2") + "[constant:[1, 2]]) -> (%1:" + t("2") + ")",
                     "}", "}"}) == "");
  }

  // -- links --------------------------------------------------------------------------------------

  TEST_CASE("ops take the registered parameters in the order in which execution meets them") {
    Upgraded net(kNet);
    const auto path = [&](int skip) {
      return net.reading.context.text(
          find_op(net.module().body(), "linalg.CPU.LinearOp", skip)->path());
    };
    CHECK(path(0) == "net.up");
    CHECK(find_op(*net.module().lookupSymbol("net.inner").op->region(), "linalg.CPU.LinearOp")
              ->path() == net.reading.context.intern("net.inner.down"));
  }

  TEST_CASE("an op that has a name keeps it") {
    CHECK(recovered({parameter("a.weight", "3, 4"),
                     "linalg.CPU.LinearOp <name=\"a\"> (%0:" + t("2, 4") + ") -> (%1:" + t("2, 3") +
                         ")"}) == "in_channels:4 out_channels:3 bias:false");
  }

  TEST_CASE("parameters that do not fit the graph or are used up are refused") {
    const std::string graph = "graph.SubGraphOp @net <CPU> {";
    const std::string linear = op("LinearOp", "2, 4", "2, 3");
    const auto inside = [&](const std::string& symbol) {
      return recovered({parameter(symbol, "3, 4"),
                        "graph.CallGraphOp @net (%0:" + t("2, 4") + ") -> (%1:" + t("2, 3") + ")",
                        graph, "(%0:" + t("2, 4") + ") -> (%1:" + t("2, 3") + ") {", linear,
                        "cf.ReturnOp (%1) -> ()", "}", "}"});
    };
    CHECK(inside("net.up.weight") == "in_channels:4 out_channels:3 bias:false");
    CHECK(inside("other.up.weight")
              .starts_with("linalg.LinearOp: parameters is lost: the next registered one is "
                           "'@other.up.weight'"));
    CHECK(
        inside("net.up.scale")
            .starts_with(
                "linalg.LinearOp: parameters is lost: the next registered one is '@net.up.scale'"));
    CHECK(
        recovered({linear}).starts_with("linalg.LinearOp: parameters is lost: every registered "
                                        "parameter belongs to an op before it"));
  }

  TEST_CASE("calls deeper than a thousand are refused") {
    Lines ops{"graph.CallGraphOp @g0 () -> ()"};
    for (int i = 0; i < 20000; ++i) {
      ops.push_back("graph.SubGraphOp @g" + std::to_string(i) +
                    " <CPU> { () -> () { graph.CallGraphOp @g" + std::to_string(i + 1) +
                    " () -> () } }");
    }
    ops.emplace_back("graph.SubGraphOp @g20000 <CPU> { () -> () { } }");
    CHECK(recovered(ops) ==
          "graph.CallGraphOp: parameters is lost: calls are nested deeper than 1000");
  }

  // -- options ------------------------------------------------------------------------------------

  TEST_CASE("linear and embedding follow from types and parameters") {
    CHECK(recovered({parameter("a.weight", "3, 4"), parameter("a.bias", "3"),
                     op("LinearOp", "2, 4", "2, 3")}) == "in_channels:4 out_channels:3 bias:true");
    CHECK(recovered({parameter("a.weight", "12"), op("LinearOp", "2, 4", "2, 3")}) ==
          "in_channels:4 out_channels:3 bias:false");
    const std::string ids =
        "linalg.CPU.EmbeddingOp(%0:" + t("2", "Int64") + ") -> (%1:" + t("2, 4") + ")";
    CHECK(recovered({parameter("e.weight", "10, 4"), ids}) == "vocab_size:10 hidden_size:4");
    CHECK(recovered({parameter("e.weight", "$V, 4"), ids}) ==
          "linalg.EmbeddingOp 'e': vocab_size is lost: its table is not registered");
  }

  TEST_CASE(
      "a product tells from its types which operand was transposed, or is assumed to be a score") {
    const auto product = [](const std::string& a, const std::string& b, const std::string& c,
                            const Lines& more = {}) {
      Lines ops{"linalg.CPU.MatMulOp(%0:" + t(a) + ", %1:" + t(b) + ") -> (%2:" + t(c) + ")"};
      ops.insert(ops.end(), more.begin(), more.end());
      Upgraded upgraded(dump(ops));
      if (!upgraded.good) return upgraded.errors().front();
      CHECK(upgraded.problems() == Lines{});
      const Op* matmul = find_op(upgraded.module().body(), "linalg.CPU.MatMulOp");
      return std::string(upgraded.report.entries.back().source == Source::kAssumed ||
                                 upgraded.report.count(Source::kAssumed) != 0
                             ? "+"
                             : "") +
             std::string(matmul->attribute("transpose_b")->spelling());
    };
    CHECK(product("2, 3", "3, 5", "2, 5") == "false");
    CHECK(product("2, 3", "5, 3", "2, 5") == "true");
    CHECK(product("4, 4", "4, 4", "4, 4") == "+false");
    CHECK(product("4, 4", "4, 4", "4, 4", {"linalg.CPU.SoftmaxOp(%2) -> (%3:" + t("4, 4") + ")"}) ==
          "+true");
    CHECK(
        product("4, 4", "4, 4", "4, 4",
                {"linalg.CPU.MulOp(%2, %8:" + t("1") + "[constant:[2]]) -> (%2:" + t("4, 4") + ")",
                 "linalg.CPU.CausalMaskOp(%2) -> (%3:" + t("4, 4") + ")"}) == "+true");
    CHECK(product("2, 3", "4, 5", "2, 5")
              .find("transpose_b is lost: the printed types fit neither reading") !=
          std::string::npos);
    CHECK(product("3", "3", "3").find("transpose_b is lost: rank below 2") != std::string::npos);
  }

  TEST_CASE("a long chain of scalings behind a product is searched once") {
    Lines ops{"linalg.CPU.MatMulOp(%0:" + t("4, 4") + ", %1:" + t("4, 4") +
              ") -> (%2:" + t("4, 4") + ")"};
    for (int i = 0; i < 20000; ++i)
      ops.push_back("linalg.CPU.MulOp(%2, %2) -> (%2:" + t("4, 4") + ")");
    CHECK(recovered(ops) == "");
  }

  TEST_CASE(
      "the dimensions of a transpose follow where they differ and are assumed where upstream's "
      "habit tells") {
    CHECK(recovered({op("TransposeOp", "2, 3", "3, 2")}) == "dim0:0 dim1:1");
    CHECK(recovered({op("TransposeOp", "1, 2, 3, 4", "1, 4, 3, 2")}) == "dim0:1 dim1:3");
    CHECK(recovered({op("TransposeOp", "1, 5, 5, 4", "1, 5, 5, 4")}) == "+dim0:1 +dim1:2");
    CHECK(recovered({op("TransposeOp", "5, 5", "5, 5")}) == "+dim0:0 +dim1:1");
    const std::string lost =
        "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in other than two "
        "dimensions";
    CHECK(recovered({op("TransposeOp", "5, 5, 5", "5, 5, 5")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3, 4", "3, 4, 2")}) == lost);
    CHECK(recovered({op("TransposeOp", "2, 3", "2, 3, 1")}) ==
          "linalg.TransposeOp: dim0, dim1 is lost: the printed types differ in rank");
  }

  TEST_CASE("a permutation follows from extents that differ") {
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 3")}) == "axis:[2, 0, 1]");
    const std::string lost =
        "linalg.PermuteOp: axis is lost: equal extents leave several permutations";
    CHECK(recovered({op("PermuteOp", "2, 2, 4", "4, 2, 2")}) == lost);
    CHECK(recovered({op("PermuteOp", "2, 3, 4", "4, 2, 5")}) == lost);
  }

  TEST_CASE("views, casts and copies between devices are what their types say") {
    CHECK(recovered({op("ViewOp", "2, 6", "2, 3, 2")}) == "to_shape:[2, 3, 2]");
    CHECK(recovered({op("ReshapeOp", "2, 6", "12")}) == "shape:[12]");
    CHECK(recovered({"linalg.CPU.CastTypeOp(%0:" + t("2") + ") -> (%1:" + t("2", "Float16") +
                     ")"}) == "dtype:Float16");
    CHECK(recovered({"linalg.CPU.X2XOp(%0:" + t("2") + ") -> (%1:" + t("2", "Float32", "QNN") +
                     ")"}) == "device:QNN");
  }

  TEST_CASE("concatenations and repetitions show in one extent") {
    CHECK(recovered({op("ConcatOp", "2, 3", "2, 5", ", %2:" + t("2, 2"))}) == "dim:1");
    CHECK(recovered({op("ConcatOp", "2, 3", "4, 5", ", %2:" + t("2, 2"))}) ==
          "linalg.ConcatOp: dim is lost: operand and result do not differ in one dimension");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 12")}) == "dim:1 repeat_times:4");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 3")}) ==
          "linalg.RepeatOp: dim is lost: operand and result do not differ in one dimension");
    CHECK(recovered({op("RepeatOp", "2, 3", "2, 10")}) ==
          "linalg.RepeatOp: repeat_times is lost: the extents are no multiple");
  }

  TEST_CASE("softmax and masks have one documented reading") {
    CHECK(recovered({op("SoftmaxOp", "2, 3", "2, 3")}) == "axis:-1");
    CHECK(recovered({op("CausalMaskOp", "3, 3", "3, 3")}) == "+sliding_window:false");
  }

  TEST_CASE("an epsilon is granted or lost") {
    const Lines rms{parameter("n.weight", "4"), op("RMSNormOp", "2, 4", "2, 4")};
    CHECK(recovered(rms) == "+epsilon:1e-06 +add_unit_offset:false");
    CHECK(recovered(rms, {}) ==
          "linalg.RMSNormOp 'n': epsilon is lost: grant it with --assume=rms_eps=1e-6 or the "
          "model's value");
    const Lines layer{parameter("n.weight", "4"), parameter("n.bias", "4"),
                      op("LayerNormOp", "2, 4", "2, 4")};
    CHECK(recovered(layer) == "normalized_shape:[4] elementwise_affine:true bias:true +eps:1e-05");
    CHECK(recovered(layer, {}) ==
          "linalg.LayerNormOp 'n': eps is lost: grant it with --assume=layer_norm_eps=1e-6 or the "
          "model's value");
  }

  TEST_CASE("the layout of a rotation follows from its table") {
    const auto rope = [](const std::string& x, const std::string& table) {
      return recovered({"linalg.CPU.RoPEOp(%0:" + t(x) + ", %1:" + t(table) + ", %2:" + t(table) +
                        ") -> (%3:" + t(x) + ")"});
    };
    CHECK(rope("1, 8, 5, 4", "1, 5, 4") == "input_type:BHSD");
    CHECK(rope("1, 5, 8, 4", "1, 5, 4") == "input_type:BSHD");
    CHECK(rope("1, 5, 5, 4", "1, 5, 4") == "+input_type:BHSD");
    CHECK(rope("1, 8, 5, 4", "1, 7, 4") ==
          "linalg.RoPEOp: input_type is lost: the table fits no layout");
    CHECK(rope("8, 5, 4", "1, 5, 4") == "linalg.RoPEOp: input_type is lost: x is not of rank 4");
  }

  TEST_CASE("what a dump states stands") {
    CHECK(recovered({"linalg.CPU.TransposeOp [dim0:0, dim1:2] (%0:" + t("5, 5, 5") +
                     ") -> (%1:" + t("5, 5, 5") + ")"}) == "dim0:0 dim1:2");
    CHECK(recovered({parameter("n.weight", "4"), "linalg.CPU.RMSNormOp [epsilon:0.1] (%0:" +
                                                     t("2, 4") + ") -> (%1:" + t("2, 4") + ")"},
                    {}) == "epsilon:0.1");
    CHECK(recovered({"linalg.CPU.SoftmaxOp [axis:0] (%0:" + t("2, 4") + ") -> (%1:" + t("2, 4") +
                     ")"}) == "axis:0");
  }

  TEST_CASE("an op that nothing recovers is refused by name and place") {
    CHECK(Upgraded(dump({"  " + op("SliceOp", "4", "2")})).errors() ==
          Lines{"2:3 MIR0700 linalg.SliceOp: indices is lost: no user tells the shape it needs"});
    CHECK(recovered({op("NoSuchOp", "4", "2")}) ==
          "linalg.NoSuchOp: meaning is lost: no dialect declares it");
    CHECK(recovered({op("SiLUOp", "4", "4", ", %2:" + t("4"))}) ==
          "linalg.SiLUOp: signature is lost: operands or results do not fit the op");
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:!a.b) -> (%1:" + t("2") + ")"})
              .starts_with("linalg.SiLUOp: signature is lost"));
    CHECK(recovered({op("FillOp", "4", "4")}) ==
          "linalg.FillOp: value semantics is lost: it writes an operand in place");
    CHECK(recovered({"prog.fragment @code <CPU> <code> { prog.ret }"}) ==
          "prog.ret: graph form is lost: a program ends with prog.exit, a body behind a label with "
          "prog.ret");
  }

  // -- mentions, names, attributes
  // ------------------------------------------------------------------

  TEST_CASE("a mention that says something else than its value is refused") {
    const std::string one = op("SiLUOp", "2", "2");
    CHECK(recovered({one, "linalg.CPU.SiLUOp(%1:" + t("3") + ") -> (%2:" + t("3") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as " + t("3") + ", its value is " +
              t("2"));
    CHECK(recovered(
              {one, "linalg.CPU.SiLUOp(%1:" + t("2") + "[constant:[1]]) -> (%2:" + t("2") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as constant [1], its value is not");
    CHECK(recovered({one, "linalg.CPU.SiLUOp(%1:" + t("2") + "[@w]) -> (%2:" + t("2") + ")"}) ==
          "linalg.SiLUOp: operand 0 is lost: it is printed as '@w', its value is not");
    CHECK(recovered({"graph.CallGraphOp @g (%7) -> ()",
                     "linalg.CPU.SiLUOp(%7:" + t("2") + ") -> (%8:" + t("2") + ")"})
              .starts_with("linalg.SiLUOp: operand 0 is lost: its first mention states no type"));
    // Notes on quantisation that a mention leaves out are its value's all the same.
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:" + t("2") + ") -> (%1:" + t("2") +
                         "[quant_recipe:QuantSpec(None, uuid=1)])",
                     "linalg.CPU.SiLUOp(%1:" + t("2") + ") -> (%2:" + t("2") + ")"}) == "");
  }

  TEST_CASE("every value gets a name of its own, once per region") {
    Upgraded same(
        dump({op("SiLUOp", "2", "2"), "linalg.CPU.SiLUOp(%1:" + t("2") + ") -> (%1:" + t("2") + ")",
              "linalg.CPU.SiLUOp(%1:" + t("2") + ") -> (%0:" + t("2") + ")"}));
    CHECK(same.problems() == Lines{});
    CHECK(print(same.module()).find("(%1:" + t("2") + ") -> (%2:" + t("2") + ")") !=
          std::string::npos);
    CHECK(print(same.module()).find("(%2:" + t("2") + ") -> (%3:" + t("2") + ")") !=
          std::string::npos);
  }

  TEST_CASE("attributes are quoted where they must be, stand once, and lost ones are refused") {
    const auto attributes = [](const std::string& list) {
      return recovered(
          {"linalg.CPU.SiLUOp [" + list + "] (%0:" + t("2") + ") -> (%1:" + t("2") + ")"});
    };
    CHECK(attributes("qnn_graph_name:two words, qnn_context_name:word") ==
          "qnn_graph_name:\"two words\" qnn_context_name:word");
    CHECK(attributes("quant_recipe:1, quant_recipe:1") == "quant_recipe:1");
    CHECK(attributes("quant_recipe:1, quant_recipe:2") ==
          "linalg.SiLUOp: attribute 'quant_recipe' is lost: it is printed twice, with different "
          "values");
    CHECK(attributes("quant_recipe:<InvalidAttribute NYI>") ==
          "linalg.SiLUOp: attribute 'quant_recipe' is lost: upstream could not print its value");
    CHECK(recovered({"linalg.CPU.SiLUOp(%0:" + t("1") +
                     "[constant:[1]][constant:[1]]) -> (%1:" + t("1") + "[k:a b])"}) == "");
    CHECK(
        recovered({"linalg.CPU.SiLUOp(%0:" + t("1") +
                   "[constant:[1]][constant:[2]]) -> (%1:" + t("1") + ")"}) ==
        "linalg.SiLUOp: attribute 'constant' is lost: it is printed twice, with different values");
  }

  TEST_CASE("what only keeps books is dropped, unless something uses it") {
    CHECK(recovered({op("SiLUOp", "2", "2"), "tensor.CPU.free (%0:" + t("2") + ") -> ()",
                     "linalg.CPU.register<SiLU>() -> ()[symbol:a]",
                     "dbg.CommentOp () -> ()[text:x]"}) == "");
    CHECK(recovered({"linalg.CPU.register<SiLU>() -> (%0:" + t("2") + ")",
                     "linalg.CPU.SiLUOp(%0) -> (%1:" + t("2") + ")"}) ==
          "linalg.register: signature is lost: it has results");
  }

  TEST_CASE("every dump upgrades to a module that verifies, or is refused with reasons") {
    std::size_t upgraded = 0;
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      // synth_quant has blocks larger than its tensors.
      if (mir::test::is_ambiguous(path) || path.find("synth_quant") != path.npos) continue;
      std::ifstream in(path, std::ios::binary);
      Upgraded net({std::istreambuf_iterator<char>(in), {}});
      if (!net.good) continue;
      ++upgraded;
      CHECK(net.problems() == Lines{});
    }
    if (!corpus().empty()) CHECK(upgraded > 0);
  }
}
