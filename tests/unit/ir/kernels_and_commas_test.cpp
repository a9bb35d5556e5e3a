// Which kernel a launch names, what ops write in dumps, and commas that upstream left out.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ir/computed_op.hpp"
#include "mir/control_flow.hpp"
#include "read.hpp"
#include "text/missing_commas.hpp"

using namespace mir;
using mir::test::Reading;

namespace kernels_and_commas_test {

TEST_SUITE("kernels of launches") {
  TEST_CASE("a launch computes the kernel that its type names, any other op itself") {
    const auto computed = [](const std::string& op) {
      Reading reading("@main () -> () {\n" + op + "\n}\n");
      return computed_op(*reading.module().body().entry()->front());
    };
    const std::string t = "tensor<[2], Float32, CPU>", ends = "(%1:" + t + ") -> (%2:" + t + ")";
    CHECK(computed("linalg.CPU.NegOp" + ends) == OpId::kLinalgNeg);
    CHECK(computed("prog.kernel_launch" + ends + "[op_type:Neg, op_options:null]") ==
          OpId::kLinalgNeg);
    CHECK(computed("prog.kernel_launch" + ends + "[op_type:Nag, op_options:null]") == OpId::kNone);
    CHECK(computed("prog.kernel_launch" + ends + "[op_type:1, op_options:null]") == OpId::kNone);
    CHECK(computed("prog.kernel_launch" + ends + "[op_options:null]") == OpId::kNone);
  }
}

TEST_SUITE("missing commas") {
  using Gaps = std::vector<std::size_t>;

  TEST_CASE("a comma is missing behind a literal, or before keys that the op declares") {
    CHECK(missing_commas("0 dim1:1", nullptr) == Gaps{1});
    CHECK(missing_commas("1.5 b:2  c : 3", nullptr) == Gaps{3, 7});
    for (const std::string word : {"true", "false", "null"}) {
      CHECK(missing_commas(word + " b:2", nullptr) == Gaps{word.size()});
    }
    CHECK(missing_commas("word b:2", nullptr).empty());
    CHECK(missing_commas("0 b", nullptr).empty());
    CHECK(missing_commas("0 :1", nullptr).empty());
    CHECK(missing_commas("0", nullptr).empty());
    CHECK(missing_commas("0 ", nullptr).empty());
    CHECK(missing_commas("0 \"b :\" c", nullptr).empty());
    static constexpr AttrRow kAttributes[] = {{.name = "axis"}, {.name = "keep"}};
    static constexpr OpRow kRow{.name = "op", .attributes = kAttributes};
    CHECK(missing_commas("word axis:2", &kRow) == Gaps{4});
    CHECK(missing_commas("word axis:2 keep:1", &kRow) == Gaps{4, 11});
    CHECK(missing_commas("word axis:2 other:1", &kRow).empty());
    CHECK(missing_commas("word other:1", &kRow).empty());
  }
}

TEST_SUITE("operands that ops write") {
  TEST_CASE("an op writes the operand of its row in a dump, and none in portable form") {
    const std::string t = "tensor<[2], Float32, CPU>";
    const auto written = [&](const std::string& head, const std::string& op) {
      Reading reading("@main " + head + "(%1:" + t + ", %2:" + t + ") -> () {\n" + op + "\n}\n");
      const Op& read = *reading.module().body().entry()->front();
      std::string text;
      for (std::uint32_t i = 0; i < 3; ++i) text += writes_operand(read, i) ? 'w' : '-';
      return text;
    };
    const std::string copy = "linalg.CPU.CopyOp (%1, %2) -> (%3:" + t + ")";
    const std::string fill = "linalg.CPU.FillOp [type:ones] (%1) -> (%3:" + t + ")";
    CHECK(written("", copy) == "-w-");
    CHECK(written("", fill) == "w--");
    CHECK(written("", "linalg.CPU.AddOp (%1, %2) -> (%3:" + t + ")") == "---");
    CHECK(written("", "a.b (%1, %2) -> ()") == "---");
    CHECK(written("[mir_version:1] ", copy) == "---");
    CHECK(written("[mir_version:1] ", fill) == "---");
  }
}

}  // namespace kernels_and_commas_test
