// What passes count on their example and on larger modules. statistics.txt holds the numbers;
// UPDATE_GOLDEN=1 writes it anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../stored_lines.hpp"
#include "known_passes.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace statistics_test {

namespace {

constexpr const char* kModules[] = {
    "mllm-opt/data/kinds-of-blocks.mir", "mllm-opt/data/merged-blocks.mir",
    "mllm-opt/data/own-symbols.mir",     "mllm-opt/data/invariant.mir",
    "mllm-opt/unroll-loops.mir",         "examples/qwen2_tiny/generate.mir",
};

class LastStatistics : public PassObserver {
 public:
  bool did_run(const PassStep&, Module&, const PassReport& report, Diagnostics&) override {
    last = report;
    return true;
  }
  PassReport last;
};

/// "2 anchors, changed, 3 ops removed" of the first module of a text; empty if it is unchanged.
std::string counts(const Pass& pass, const std::string& text) {
  Reading reading(text);
  Passes all;
  LastStatistics observer;
  const auto pipeline = all.read(example_pipeline(pass));
  REQUIRE(pipeline);
  Diagnostics problems;
  if (!run_pipeline(reading.module(), *pipeline, {.observers = {&observer}}, problems)) {
    return "refuses";
  }
  const PassReport& report = observer.last;
  if (report.result != PassResult::kChanged) return "";
  std::string line = fmt::format("{} anchors, changed", report.anchors);
  for (const auto& [what, count] : report.statistics) line += fmt::format(", {} {}", count, what);
  return line;
}

Lines found() {
  Lines lines;
  const Passes all;
  for (const auto& entry : all.registry.passes()) {
    const Pass& pass = entry.second;
    const auto add = [&](std::string_view of, const std::string& text) {
      const std::string counted = counts(pass, text);
      if (!counted.empty()) lines.push_back(fmt::format("{} | {} | {}", pass.name, of, counted));
    };
    if (!pass.example.empty()) add("its example", pass.example);
    for (const char* module : kModules) {
      add(module, mir::test::read_whole(mir::test::kRoot / "testdata" / module));
    }
  }
  return lines;
}

}  // namespace

TEST_SUITE("statistics of passes") {
  TEST_CASE("what each pass counts on its example and on other modules") {
    const Lines lines = found();
    CHECK(lines == test::stored_lines("testdata/unit/passes/statistics.txt", lines));
  }
}

}  // namespace statistics_test
