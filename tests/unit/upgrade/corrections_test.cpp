// What is granted against the text of a dump: readings, notes, ends of graphs.
#include "upgrade/settle_text.hpp"
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace mir::test::corrections {

UpgradeOptions granting(const Lines& facts) {
  UpgradeOptions options;
  for (const std::string& fact : facts) {
    CAPTURE(fact);
    REQUIRE(grant(options, fact));
  }
  return options;
}

/// The text as the facts settle it, or the first error; after it, what the report says.
std::string settled(const std::string& text, const Lines& facts) {
  IRContext context;
  register_builtin_dialects(context);
  LossReport report;
  Diagnostics diagnostics(0);
  const SourceFile* file = context.sources().add("dump.mir", text);
  const SourceFile* after = settle_texts(*file, granting(facts), context, report, diagnostics);
  if (after == nullptr) return lines_of(diagnostics, context).front();
  std::string out(after->text());
  for (const LossEntry& entry : report.entries) {
    const Span span = context.locations().span(entry.at);
    const LineColumn at = after->line_column(span.begin);
    out += "|" + std::to_string(at.line) + ":" + std::to_string(at.column) + " " + entry.fact;
  }
  return out;
}

TEST_SUITE("corrections") {
  TEST_CASE("a string that upstream printed without quotes ends where it is granted to end") {
    CHECK(settled("a.b [s:x, y: \"z\" [1], t:2]", {"text:s=\"x, y: \\\"z\\\" [1]\""}) ==
          "a.b [s:\"x, y: \\\"z\\\" [1]\", t:2]|1:8 attribute 's'");
    CHECK(settled("a.b [t:1, s:x\ny]", {"text:s=x\ny"}) ==
          "a.b [t:1, s:\"x\\ny\"]|1:13 attribute 's'");
    // Each mention of a value repeats its attributes; a longer key is another one.
    CHECK(settled("[s:p, q], [ss:p, q], [s:p, q]", {"text:s=p, q"}) ==
          "[s:\"p, q\"], [ss:p, q], [s:\"p, q\"]|1:4 attribute 's'|1:27 attribute 's'");
    CHECK(settled("[s:p, q r]", {"text:s=p, q"}) ==
          "- MIR0701 --assume: the text 'p, q' of 'text:s' does not occur in 'dump.mir'");
    CHECK(settled("[s:p]", {}) == "[s:p]");
  }

  TEST_CASE("a comment is what is granted to be one, line by line") {
    CHECK(settled("{\n    a b\n    c.d () -> ()\n}", {"comment=a b"}) ==
          "{\n    // a b\n    c.d () -> ()\n}|2:5 comment");
    CHECK(settled("{\n    // a\nb.c ()\n\nend\n}", {"comment=\"// a\\nb.c ()\\n\\nend\""}) ==
          "{\n    // a\n    // b.c ()\n    //\n    // end\n}|2:5 comment");
    CHECK(settled("{\n    a b c\n}", {"comment=a b"}).starts_with("- MIR0701"));
    CHECK(settled("{\n    x a b\n}", {"comment=a b"}).starts_with("- MIR0701"));
  }

  TEST_CASE("an element type that upstream could not name takes the place of its log line") {
    CHECK(settled("tensor<[2], \x1b[1m[NYI]\x1b[0m a.cpp:1 Unknown data type\nUnknow, CPU>",
                  {"Unknow=BFloat16"}) == "tensor<[2], BFloat16, CPU>|1:13 element type");
    CHECK(settled("\x1b[1mlog\nother", {"Unknow=BFloat16"}).starts_with("- MIR0701"));
    CHECK(settled("\x1b[1mlog", {"Unknow=BFloat16"}).starts_with("- MIR0701"));
  }

  std::string corrected(const Lines& ops, const Lines& facts) {
    Upgraded net(dump(ops), granting(facts));
    if (!net.good) return net.errors().front();
    CHECK(net.problems() == Lines{});
    std::string out = print(net.module());
    for (const std::string& entry : net.entries(Source::kAssumed)) out += "|" + entry;
    return out;
  }

  TEST_CASE("which of several returns ends a graph is granted") {
    const std::string silu = "linalg.CPU.SiLUOp(%0:" + t("2") + ") -> (%1:" + t("2") + ")";
    const Lines ops = {silu, "cf.ReturnOp (%1:" + t("2") + ") -> ()",
                       "linalg.CPU.ReLUOp(%1:" + t("2") + ") -> (%2:" + t("2") + ")",
                       "cf.ReturnOp (%2:" + t("2") + ") -> ()"};
    CHECK(has(corrected(ops, {}),
              "3:1 MIR0700 cf.ReturnOp: end of the graph is lost: operations "
              "follow it; --assume='main.return=0' says"));
    const std::string first = corrected(ops, {"main.return=0"});
    CHECK(has(first, "cf.ReturnOp (%1:"));
    CHECK(has(first,
              "|builtin.ModuleOp return that ends the graph=0"
              "|cf.ReturnOp left out=after the return"
              "|linalg.ReLUOp left out=after the return"));
    const std::string second = corrected(ops, {"main.return=1"});
    CHECK(has(second, "cf.ReturnOp (%2:"));
    CHECK(has(second, "|cf.ReturnOp left out=another return ends the graph"));
    CHECK(has(corrected({silu}, {"main.return=0"}), "--assume: no operation lost 'main.return'"));
    CHECK(has(corrected(ops, {"main.return=2"}), "end of the graph is lost"));
  }

  TEST_CASE("notes on values are taken away or replaced as granted") {
    const std::string spec =
        "QuantSpec(SymPerBlock(quant_min: -8, quant_max: 7, block_size: 32, "
        "quant_to_type: Int4, scale_type: Float16), uuid=3, solved=0)";
    const std::string noted =
        "%0:" + t("4") + "[quant_recipe:" + spec + ", symbol:<InvalidAttribute NYI>]";
    const Lines ops = {"linalg.CPU.SiLUOp(" + noted + ") -> (%1:" + t("4") + ")",
                       "linalg.CPU.ReLUOp(" + noted + ") -> (%2:" + t("4") + ")"};
    CHECK(has(corrected(ops, {}),
              "attribute 'symbol' is lost: upstream could not print its value; "
              "--assume='%0.symbol=...' states it, none leaves it out"));
    const std::string none = corrected(ops, {"%0.quant_recipe=none", "%0.symbol=none"});
    CHECK(has(none, "SiLUOp(%0:" + t("4") + ") ->"));
    CHECK(has(none, "ReLUOp(%0:" + t("4") + ") ->"));
    CHECK(has(none, "quant_recipe of %0=none"));
    const std::string raw = "QuantSpec(Raw(type: Float32), uuid=3, solved=0)";
    CHECK(has(corrected(ops, {"%0.quant_recipe=" + raw, "%0.symbol=x"}),
              "SiLUOp(%0:" + t("4") + "[quant_recipe:" + raw + ", symbol:x]) ->"));
    CHECK(
        has(corrected(ops, {"%0.symbol=none", "%7.q=none"}), "--assume: no operation lost '%7.q'"));
  }

  TEST_CASE("an attribute that no value has is dropped, which the report tells") {
    Upgraded net(
        dump({"linalg.CPU.SiLUOp(%0:" + t("4") +
              "[foo:1, symbol:x, q:<InvalidAttribute NYI>]) -> (%1:" + t("4") + "[bar:2])"}));
    REQUIRE(net.good);
    CHECK(net.problems() == Lines{});
    CHECK(has(print(net.module()), "SiLUOp(%0:" + t("4") + "[symbol:x]) -> (%1:" + t("4") + ")"));
    CHECK(net.entries(Source::kDropped) ==
          Lines{"builtin.ModuleOp attribute 'foo' of %0=1",
                "builtin.ModuleOp attribute 'q' of %0=<InvalidAttribute NYI>",
                "linalg.SiLUOp attribute 'bar' of %1=2"});
  }

  TEST_CASE("what no dialect declares is left out where that is granted") {
    const Lines ops = {"graph.SubGraphOp @g <CPU> [n:1, symbol:g] {", "() -> () {", "}", "}",
                       "tensor.CPU.alloc () -> (%0:" + t("2") + ")[k:1]"};
    CHECK(has(corrected(ops, {}),
              "meaning of attribute 'n' is lost: no dialect declares it; "
              "--assume='g.n=none' leaves it out"));
    CHECK(has(corrected(ops, {"g.n=none"}), "--assume='alloc.0.k=none' leaves it out"));
    CHECK(has(corrected(ops, {"g.n=none", "alloc.0.k=none"}), "@g <CPU> [symbol:g] {"));
    CHECK(has(corrected(ops, {"g.symbol=none"}), "--assume: no operation lost 'g.symbol'"));
  }

  TEST_CASE("an extent of -1 is unknown, or what is granted") {
    const Lines ops = {"tensor.CPU.alloc () -> (%0:" + t("2, -1") + ")"};
    CHECK(has(corrected(ops, {}), "alloc () -> (%0:" + t("2, ?") + ")"));
    CHECK(has(corrected(ops, {"%0=" + t("2, 3")}), "alloc () -> (%0:" + t("2, 3") + ")"));
    // A graph that returns it states the type as well.
    const std::string open = "%0:" + t("2, -1"), known = "%0:" + t("2, 3");
    const Lines graph = {"graph.CallGraphOp @g () -> (" + open + ")",
                         "graph.SubGraphOp @g <CPU> {\n() -> (" + open +
                             ") {\ntensor.CPU.alloc () -> (" + open + ")\ncf.ReturnOp (" + open +
                             ") -> ()\n}\n}"};
    CHECK(has(corrected(graph, {"%0=" + t("2, 3")}), "() -> (" + known + ") {"));
    // So does the dump, which tools verify before they upgrade it.
    Reading reading(dump(graph));
    REQUIRE(reading.errors() == Lines{});
    LossReport report;
    Diagnostics problems;
    take_corrections(reading.module(), granting({"%0=" + t("2, 3")}), report, problems);
    CHECK_FALSE(problems.has_errors());
    CHECK(has(print(reading.module()), "() -> (" + known + ") {"));
  }

  TEST_CASE("a complex parameter has the type that is granted, a real one the type it has") {
    const auto registered = [](const std::string& dtype) {
      return Lines{
          "tensor.CPU.register () -> (%7:" + t("3, 4", dtype) + "[@up.weight])[symbol:up.weight]",
          "linalg.CPU.LinearOp <name=\"up\"> (%0:" + t("2, 4") + ") -> (%1:" + t("2, 3") + ")"};
    };
    CHECK(has(corrected(registered("ComplexFP32"), {"%7=" + t("3, 4")}),
              "register () -> (%7:" + t("3, 4") + "[@up.weight])"));
    CHECK(has(corrected(registered("Float16"), {"%7=" + t("3, 4")}), "no operation lost '%7'"));
  }
}

}  // namespace mir::test::corrections
