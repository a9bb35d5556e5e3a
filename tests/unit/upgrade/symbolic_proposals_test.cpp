// Which extents of a dump's inputs are proposed as symbols.
#include "upgrade/symbolic_proposals.hpp"

#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace symbolic_proposals_test {

namespace {

struct Proposed {
  explicit Proposed(const Lines& ops, const UpgradeOptions& options = {}) : reading(dump(ops)) {
    REQUIRE(reading.errors() == Lines{});
    const std::string before = print(reading.module());
    proposals = propose_symbolic_dims(reading.module(), options, diagnostics);
    CHECK(print(reading.module()) == before);
  }

  /// "0:1 1:0" of each proposal, "- 0:1" of an extent that stays.
  Lines places() const {
    Lines list;
    for (const SymbolicProposal& each : proposals) {
      std::string text = each.refusal.empty() ? "" : "- ";
      for (const SymbolicDim& dim : each.dims) {
        text += (&dim == &each.dims.front() ? "" : " ") + std::to_string(dim.input) + ":" +
                std::to_string(dim.dim);
      }
      list.push_back(text);
    }
    return list;
  }

  Reading reading;
  Diagnostics diagnostics;
  std::vector<SymbolicProposal> proposals;
};

std::string binary(const std::string& kind, const std::string& a, const std::string& b,
                   const std::string& out) {
  return "linalg.CPU." + kind + "(%1:" + t(a) + ", %2:" + t(b) + ") -> (%3:" + t(out) + ")";
}

}  // namespace

TEST_SUITE("proposals of symbols") {
  TEST_CASE("an extent that nothing ties to others is a symbol alone") {
    CHECK(Proposed({op("NegOp", "2, 2", "2, 2")}).places() == Lines{"0:0", "0:1"});
    CHECK(Proposed({binary("MatMulOp [transpose_b:false] ", "3, 4", "4, 5", "3, 5")}).places() ==
          Lines{"0:0", "0:1 1:0", "1:1"});
  }

  TEST_CASE("extents that must be equal are one symbol, without others of the same number") {
    CHECK(Proposed({binary("AddOp", "2, 4", "2, 4", "2, 4")}).places() ==
          Lines{"0:0 1:0", "0:1 1:1"});
    // The same extent of a third input is left out.
    CHECK(Proposed({binary("AddOp", "3, 2", "3, 2", "3, 2"),
                    "linalg.CPU.NegOp(%4:" + t("3") + ") -> (%5:" + t("3") + ")"})
              .places() == Lines{"0:0 1:0", "0:1 1:1", "2:0"});
  }

  TEST_CASE("an extent that an option states as a number stays, with the reason") {
    const Proposed linear(
        {"linalg.CPU.LinearOp <name=\"a\"> [in_channels:4, out_channels:3, "
         "bias:false] (%1:" +
         t("2, 4") + ") -> (%2:" + t("2, 3") + ")"});
    CHECK(linear.places() == Lines{"0:0", "- 0:1"});
    REQUIRE(linear.proposals.size() == 2);
    CHECK(linear.proposals[1].traced == 4);
    const std::string text = render(linear.proposals);
    CHECK(has(text,
              "--symbolic-dim=S@input0:0\n  traced as 2; 2 values have the symbol\n"
              "  input %1:" +
                  t("$S, 4") + "\n  output %2:" + t("$S, 3") + "\n"));
    CHECK(has(text, "input0:1 is 4 and stays a number: "));
    CHECK_FALSE(has(text, "with all others"));
  }

  TEST_CASE("facts that a symbol needs are listed with their number") {
    const std::string reshape =
        "linalg.CPU.ReshapeOp(%1:" + t("6, 5") + ") -> (%2:" + t("2, 3, 5") + ")";
    const Proposed one({reshape});
    REQUIRE(one.proposals.size() == 2);
    REQUIRE(one.proposals[1].assumed.size() == 1);
    CHECK(one.proposals[1].assumed[0].text == "linalg.ReshapeOp: shape = [2, 3, $S]");
    CHECK(one.proposals[1].assumed[0].count == 1);
    CHECK(one.proposals[1].values == 2);
    CHECK(has(render(one.proposals), "  assumes linalg.ReshapeOp: shape = [2, 3, $S]\n"));
    const Proposed twice(
        {reshape, "linalg.CPU.ReshapeOp(%1:" + t("6, 5") + ") -> (%3:" + t("2, 3, 5") + ")"});
    REQUIRE(twice.proposals.size() == 2);
    REQUIRE(twice.proposals[1].assumed.size() == 1);
    CHECK(twice.proposals[1].assumed[0].count == 2);
    CHECK(twice.proposals[1].outputs.size() == 2);
    CHECK(has(render(twice.proposals), "shape = [2, 3, $S] (2 times)\n"));
  }

  TEST_CASE("a dump that cannot be upgraded has no proposals, but an error") {
    const Proposed lost(
        {"linalg.CPU.RMSNormOp <name=\"n\"> (%1:" + t("2, 4") + ") -> (%2:" + t("2, 4") + ")"});
    CHECK(lost.proposals.empty());
    CHECK(lost.diagnostics.has_errors());
    CHECK(render(lost.proposals).empty());
    CHECK(Proposed({"linalg.CPU.RMSNormOp <name=\"n\"> (%1:" + t("2, 4") + ") -> (%2:" + t("2, 4") +
                    ")"},
                   kGranted)
              .places() == Lines{"0:0", "0:1"});
  }
}

}  // namespace symbolic_proposals_test
