// Facts that the user supplies: which op and which extent they are about.
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace supplied_facts_test {

namespace {

std::string fill(const std::string& more, int number) {
  const std::string from = "(%" + std::to_string(number) + ":" + t("4") + ")",
                    to = "(%" + std::to_string(number + 1) + ":" + t("4") + ")";
  return "linalg.CPU.FillOp " + more + from + " -> " + to;
}

/// The first error with its hint, without place, of a dump with these facts; else the module.
std::string with_facts(const Lines& ops, const Lines& facts) {
  UpgradeOptions options;
  for (const std::string& each : facts) REQUIRE(grant(options, each));
  Upgraded upgraded(dump(ops), options);
  if (upgraded.good) {
    CHECK(upgraded.problems() == Lines{});
    return print(upgraded.module());
  }
  const Diagnostic first = upgraded.diagnostics.sorted().front();
  return first.message + (first.hint.empty() ? "" : "; " + first.hint);
}

/// The same with extents that become symbols.
std::string with_symbols(const Lines& ops, const std::vector<SymbolicDim>& dims) {
  UpgradeOptions options;
  options.symbolic_dims = dims;
  Upgraded upgraded(dump(ops), options);
  if (upgraded.good) {
    CHECK(upgraded.problems() == Lines{});
    return print(upgraded.module());
  }
  std::string message = upgraded.diagnostics.sorted().front().message;
  const std::string_view start = "is lost: ";
  return message.substr(message.find(start) + start.size());
}

}  // namespace

TEST_SUITE("facts about ops") {
  TEST_CASE("a fact about an op with a name is not for others with names") {
    const Lines ops = {fill("<name=\"a.f\"> ", 1), fill("<name=\"a.g\"> ", 3)};
    const std::string both = with_facts(ops, {"a.f.type=zeros", "a.g.type=ones"});
    CHECK(has(both, "FillOp <name=\"a.f\"> [type:zeros]"));
    CHECK(has(both, "FillOp <name=\"a.g\"> [type:ones]"));
    CHECK(has(with_facts(ops, {"a.f.type=zeros"}), "type is lost"));
    const std::string places = with_facts(ops, {"Fill.0.type=zeros", "Fill.1.type=ones"});
    CHECK(has(places, "FillOp <name=\"a.f\"> [type:zeros]"));
    CHECK(has(places, "FillOp <name=\"a.g\"> [type:ones]"));
  }

  TEST_CASE("an unknown op is named with the nearest type, name or owner of a parameter") {
    const Lines ops = {
        fill("<name=\"act.first\"> [type:ones] ", 1),
        "linalg.CPU.NegOp(%9:" + t("4") + "[@layer.up.weight]) -> (%10:" + t("4") + ")"};
    const auto hint = [&](const std::string& fact) { return with_facts(ops, {fact}); };
    CHECK(has(hint("Fyll.type=zeros"), "did you mean 'Fill'?"));
    CHECK(has(hint("act.fist.type=zeros"), "did you mean 'act.first'?"));
    CHECK(has(hint("layer.op.type=zeros"), "did you mean 'layer.up'?"));
    CHECK(has(hint("Fill.tipe=zeros"), "did you mean 'type'?"));
    CHECK_FALSE(has(hint("Quite.other=zeros"), "did you mean"));
  }

  TEST_CASE("an attribute that a dump prints twice counts once, others after it stay") {
    CHECK(has(with_facts({fill("[type:specific, type:specific, value:2.5] ", 1)}, {}),
              "[type:specific, value:2.5]"));
    CHECK(has(with_facts({fill("[type:specific, type:ones, value:2.5] ", 1)}, {}),
              "it is printed twice, with different values"));
  }
}

TEST_SUITE("extents that become symbols") {
  const Lines kNeg = {op("NegOp", "2, 4", "2, 4")};

  TEST_CASE("each symbol stands for one number, several may be in one type") {
    CHECK(has(with_symbols(kNeg, {{"S", 0, 0}, {"T", 0, 1}}),
              "(%0:" + t("$S, $T") + ") -> (%1:" + t("$S, $T") + ")"));
    CHECK(with_symbols(kNeg, {{"S", 0, 0}, {"S", 0, 1}}) ==
          "--symbolic-dim=S@input0:1: it stands for 2 and for 4");
    CHECK(has(with_symbols({op("NegOp", "3, 3", "3, 3")}, {{"S", 0, 0}, {"S", 0, 1}}),
              "(%0:" + t("$S, $S") + ")"));
  }

  TEST_CASE("an input or dimension that does not exist, or is no number, is refused") {
    CHECK(with_symbols(kNeg, {{"S", 1, 0}}) ==
          "--symbolic-dim=S@input1:0: the module has no input 1; the last one is input 0");
    CHECK(with_symbols(kNeg, {{"S", 0, 2}}) ==
          "--symbolic-dim=S@input0:2: input 0 has no dimension 2; its last one is 1");
    CHECK(with_symbols(kNeg, {{"S", 0, 0}, {"T", 0, 0}}) ==
          "--symbolic-dim=T@input0:0: that extent is no number");
    CHECK(with_symbols(
              {"linalg.CPU.IotaOp [shape:[2], dtype:Float32, dim:0] () -> (%1:" + t("2") + ")"},
              {{"S", 0, 0}}) ==
          "--symbolic-dim=S@input0:0: the module has no input 0; it has none");
    CHECK(with_symbols({op("NegOp", "", "")}, {{"S", 0, 0}}) ==
          "--symbolic-dim=S@input0:0: input 0 has no dimension 0");
  }
}

}  // namespace supplied_facts_test
