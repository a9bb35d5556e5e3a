// When two ops compute the same.
#include "mir/equivalence.hpp"

#include <string>
#include <string_view>

#include "flow_dialect.hpp"

using namespace mir;
using mir::test::FlowReading;

namespace equivalence_test {

namespace {

/// How the first two ops of a module compare: "equivalent", "same operation" or "different".
std::string compared(std::string_view first, std::string_view second) {
  FlowReading reading("@main [mir_version:1] (%x:$, %u:$) -> () {\n" + std::string(first) + "\n" +
                      std::string(second) + "\n}\n");
  const auto ops = test::ops_of(reading.module().body());
  CHECK(are_equivalent(*ops[0], *ops[1]) == are_equivalent(*ops[1], *ops[0]));
  CHECK(are_same_operation(*ops[0], *ops[1]) == are_same_operation(*ops[1], *ops[0]));
  if (!are_same_operation(*ops[0], *ops[1])) return "different";
  return are_equivalent(*ops[0], *ops[1]) ? "equivalent" : "same operation";
}

}  // namespace

TEST_SUITE("equivalence") {
  TEST_CASE("equivalent ops have the same operands, results and meaning") {
    const std::string neg = "linalg.CPU.NegOp (%x) -> (%1:$)";
    CHECK(compared(neg, "linalg.CPU.NegOp (%x) -> (%2:$)") == "equivalent");
    CHECK(compared(neg, "linalg.CPU.NegOp (%u) -> (%2:$)") == "same operation");
    CHECK(compared(neg, "linalg.CPU.NegOp (%x) -> (%2:$[@w])") == "same operation");
    CHECK(compared(neg, "linalg.CPU.AbsOp (%x) -> (%2:$)") == "different");
    CHECK(compared(neg, "linalg.QNN.NegOp (%x) -> (%2:$)") == "different");
    CHECK(compared(neg, "linalg.CPU.NegOp [my.mark:1] (%x) -> (%2:$)") == "different");
    CHECK(compared("linalg.CPU.NegOp [my.mark:1] (%x) -> (%1:$)",
                   "linalg.CPU.NegOp [my.mark:2] (%x) -> (%2:$)") == "different");
    CHECK(compared("linalg.CPU.NegOp [my.mark:1] (%x) -> (%1:$)",
                   "linalg.CPU.NegOp [my.mark:1] (%x) -> (%2:$)") == "equivalent");
  }

  TEST_CASE("an attribute may be left out for its default and spelled in other ways") {
    const auto softmax = [](const std::string& first, const std::string& second) {
      return compared("linalg.CPU.SoftmaxOp" + first + " (%x) -> (%1:$)",
                      "linalg.CPU.SoftmaxOp" + second + " (%x) -> (%2:$)");
    };
    CHECK(softmax(" [axis:0]", " [axis:0]") == "equivalent");
    CHECK(softmax(" [axis:0]", " [axis:-1]") == "different");
    const auto unknown = [](const std::string& first, const std::string& second) {
      return compared("my.op [k:" + first + "] () -> ()", "my.op [k:" + second + "] () -> ()");
    };
    CHECK(unknown("1.5", "1.5") == "equivalent");
    CHECK(unknown("1.5", "1.25") == "different");
    CHECK(unknown("a", "b") == "different");
  }

  TEST_CASE("a name decides where weights, state or an unknown meaning depend on it") {
    const auto named = [](const std::string& op, const std::string& rest) {
      return compared(op + " <name=\"a\"> " + rest + " -> ()",
                      op + " <name=\"b\"> " + rest + " -> ()");
    };
    CHECK(named("my.op", "()") == "different");
    CHECK(named("flow.store", "()") == "different");
    CHECK(compared("linalg.CPU.NegOp <name=\"a\"> (%x) -> (%1:$)",
                   "linalg.CPU.NegOp <name=\"b\"> (%x) -> (%2:$)") == "equivalent");
    CHECK(compared("flow.store <name=\"a\"> () -> ()", "flow.store <name=\"a\"> () -> ()") ==
          "equivalent");
  }

  TEST_CASE("ops with regions are never the same") {
    const std::string scope = "flow.scope () -> () { () -> () { flow.yield () -> () } }";
    CHECK(compared(scope, scope) == "different");
    CHECK(compared(scope, "flow.scope () -> () { }") == "different");
  }

  TEST_CASE("numbers are the same without rounding, but zeros of different signs are not") {
    const auto clip = [](const std::string& first, const std::string& second) {
      return compared("linalg.CPU.ClipOp [min_val:" + first + ", max_val:1.0] (%x) -> (%1:$)",
                      "linalg.CPU.ClipOp [min_val:" + second + ", max_val:1.0] (%x) -> (%2:$)");
    };
    CHECK(clip("0.5", "5e-1") == "equivalent");
    CHECK(clip("0.50", ".5") == "equivalent");
    CHECK(clip("nan", "nan") == "equivalent");
    CHECK(clip("0.0", "-0.0") == "different");
    CHECK(clip("0.0", "1e-400") == "different");
    CHECK(clip("9007199254740993.0", "9007199254740992.0") == "different");
  }

  TEST_CASE("floats are the same by their value, strings by their text") {
    FlowReading reading("@main [mir_version:1] () -> () {\n}\n");
    IRContext& context = reading.context;
    CHECK(are_same_value(*context.scalar(AttrKind::kFloat, "1.50"),
                         *context.scalar(AttrKind::kFloat, "1.5")));
    CHECK_FALSE(are_same_value(*context.scalar(AttrKind::kFloat, "1.5"),
                               *context.scalar(AttrKind::kFloat, "1.25")));
    CHECK_FALSE(are_same_value(*context.scalar(AttrKind::kFloat, "1.0"), *context.integer(1)));
    CHECK(are_same_value(*context.word("a"), *context.string("a")));
    CHECK_FALSE(are_same_value(*context.word("a"), *context.string("b")));
    CHECK_FALSE(are_same_value(*context.string("1"), *context.integer(1)));
    CHECK_FALSE(are_same_value(*context.integer(1), *context.integer(2)));
  }
}

}  // namespace equivalence_test
