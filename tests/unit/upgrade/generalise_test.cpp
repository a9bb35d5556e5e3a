// Traced extents that become symbols.
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace generalise_test {

namespace {

/// The portable text of the ops with the extents made symbols; or the first error.
std::string generalised(const std::string& ops, const Lines& wanted) {
  UpgradeOptions options;
  for (const std::string& each : wanted) {
    auto parsed = parse_symbolic_dim(each);
    REQUIRE(parsed);
    options.symbolic_dims.push_back(*std::move(parsed));
  }
  return upgraded(ops, options);
}

const std::string kView =
    "linalg.CPU.ViewOp(%0:" + t("1, 8, 8") + ") -> (%0:" + t("8, 2, 4") + ")\n";

}  // namespace

TEST_SUITE("generalise") {
  TEST_CASE("an input's extent and an option that repeats it become a symbol") {
    const std::string text = generalised(kView, {"S@input0:1"});
    CHECK(has(text,
              "@main [mir_version:1] (%0:" + t("1, $S, 8") + ") -> (%1:" + t("$S, 2, 4") + ")"));
    CHECK(has(text, "ViewOp [to_shape:[$S, 2, 4]] (%0:" + t("1, $S, 8") + ")"));
  }

  TEST_CASE("a slice up to the end of a traced extent goes to the end of the symbol") {
    const auto sliced = [](const std::string& bounds) {
      return generalised("linalg.CPU.SliceOp [indices:[{}, " + bounds +
                             ", {}]] (%0:" + t("1, 8, 4") + ") -> (%1:" + t("1, 8, 4") + ")\n",
                         {"S@input0:1"});
    };
    CHECK(has(sliced("{\"end\":8,\"start\":7,\"step\":1}"),
              "[indices:[{}, {\"end\":0,\"start\":-1,\"step\":1}, {}], enable_ssa:true] (%0:" +
                  t("1, $S, 4") + ") -> (%1:" + t("1, 1, 4") + ")"));
    CHECK(has(sliced("{\"start\":2,\"end\":8}"),
              "{\"start\":2}, {}], enable_ssa:true] (%0:" + t("1, $S, 4") +
                  ") -> (%1:" + t("1, $S-2, 4")));
    CHECK(has(sliced("{\"end\":3}"), "-> (%1:" + t("1, 3, 4") + ")"));
  }

  TEST_CASE("an option may hold a multiple of the extent") {
    CHECK(has(generalised("linalg.CPU.ViewOp(%0:" + t("3, 8") + ") -> (%0:" + t("24") + ")\n",
                          {"S@input0:0"}),
              "[to_shape:[8*$S]]"));
  }

  TEST_CASE("symbols go into calls and out of them, and a cache holds a past") {
    const std::string kv = t("1, 2, 8, 4");
    const std::string text = generalised(
        "graph.CallGraphOp @g (%0:" + kv + ") -> (%1:" + kv +
            ")\ngraph.SubGraphOp @g <CPU> {\n(%0:" + kv + ") -> (%1:" + kv +
            ") {\nlinalg.CPU.KVCacheOp <name=\"c\">(%0:" + kv + ", %0:" + kv + ") -> (%1:" + kv +
            ", %2:" + kv + ")\ncf.ReturnOp (%1:" + kv + ") -> ()\n}\n}\n",
        {"S@input0:2"});
    CHECK(has(text, "past:$past"));
    CHECK(has(text, "graph.CallGraphOp @g (%0:" + t("1, 2, $S, 4") +
                        ") -> (%1:" + t("1, 2, $S+$past, 4") + ")"));
  }

  TEST_CASE("two inputs share a symbol only where they were traced alike") {
    const std::string add =
        "linalg.CPU.AddOp(%0:" + t("8") + ", %1:" + t("8") + ") -> (%2:" + t("8") + ")\n";
    CHECK(has(generalised(add, {"S@input0:0", "S@input1:0"}),
              "AddOp(%0:" + t("$S") + ", %1:" + t("$S")));
    CHECK(has(generalised(add, {"S@input0:0"}), "MIR0700 linalg.AddOp: symbolic extents is lost"));
    const std::string mul =
        "linalg.CPU.MulOp(%0:" + t("8") + ", %1:" + t("1") + ") -> (%2:" + t("8") + ")\n";
    CHECK(has(generalised(mul, {"S@input0:0", "S@input1:0"}), "it stands for 8 and for 1"));
  }

  TEST_CASE("inputs and dimensions that do not exist are refused") {
    CHECK(
        has(generalised(kView, {"S@input1:0"}), "symbolic extent $S is lost: there are 1 inputs"));
    CHECK(has(generalised(kView, {"S@input0:3"}), "input 0 has no dimension 3"));
    CHECK(has(generalised(kView, {"S@input0:1", "S@input0:1"}), "that extent is no number"));
  }

  TEST_CASE("the text of an extent is checked whole") {
    const auto good = parse_symbolic_dim("Seq_1@input12:3");
    REQUIRE(good);
    CHECK(good->symbol == "Seq_1");
    CHECK(good->input == 12);
    CHECK(good->dim == 3);
    for (const char* bad :
         {"", "S", "S@input:1", "S@input0", "S@input0:", "@input0:1", "1S@input0:1", "S@input0:1x",
          "S@inputx:1", "S T@input0:1", "S@input-1:0"}) {
      CAPTURE(bad);
      CHECK(!parse_symbolic_dim(bad));
    }
  }
}

}  // namespace generalise_test
