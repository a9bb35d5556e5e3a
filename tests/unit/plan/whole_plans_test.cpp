// The nodes, the memory and the folded parts of plans for each level of fusion, as
// testdata/unit/plan/plans.txt stores them, and that all plans compute what the reference computes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../stored_lines.hpp"
#include "planned.hpp"

namespace mir::test {

namespace {

/// `Linear; SiLU: 128 bytes`, with the least possible memory and the folded parts if they differ
/// from that and from none.
std::string text_of(const ExecutionPlan& plan) {
  std::string text =
      fmt::format("{}: {} bytes", fmt::join(plan.node_names(), "; "), plan.planned_bytes());
  if (plan.lower_bound() != plan.planned_bytes()) {
    text += fmt::format(" instead of {}", plan.lower_bound());
  }
  if (plan.folded().nodes != 0) {
    text += fmt::format(", {} folded in {} bytes", plan.folded().nodes, plan.folded().bytes);
  }
  return text;
}

/// A line for the levels of fusion that have one plan.
std::string plans_of(const std::string& text) {
  Runner reference(text);
  std::vector<Tensor> inputs;
  const Text read(text);
  for (const Value& input : read.module->body().entry_arguments()) {
    Shape shape;
    for (const Dim dim : input.tensor_type()->dims()) shape.push_back(dim.constant());
    inputs.push_back(pattern(shape));
  }
  const std::vector<Tensor> expected = reference.run(inputs);
  std::string all, levels, last;
  const auto end_line = [&] {
    if (!levels.empty()) all += levels + ": " + last + "\n";
  };
  for (const auto& [level, name] :
       {std::pair(Fusion::kOff, "off"), std::pair(Fusion::kExact, "exact"),
        std::pair(Fusion::kAll, "all")}) {
    Runner runner(text, fast(level));
    check_close(runner.run(inputs), expected);
    const std::string plan = text_of(runner.plan());
    if (plan == last) {
      levels += std::string(", ") + name;
      continue;
    }
    end_line();
    levels = name;
    last = plan;
  }
  end_line();
  return all;
}

}  // namespace

TEST_CASE("whole plans: nodes, memory and folded parts, for each level of fusion") {
  check_stored_cases("testdata/unit/plan/plans.txt",
                     [](const StoredCase& each) { return plans_of(each.input); });
}

}  // namespace mir::test
