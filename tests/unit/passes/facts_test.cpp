// Facts that passes read, and reports that they write.
#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "known_passes.hpp"

namespace mir::test {
namespace {

constexpr std::string_view kNorm =
    "@main () -> () {\n"
    "    tensor.CPU.register () -> (%9:tensor<[4], Float32, CPU>[@n.weight])[symbol:n.weight]\n"
    "    linalg.CPU.RMSNormOp <name=\"n\"> (%0:tensor<[2, 4], Float32, CPU>) -> "
    "(%1:tensor<[2, 4], Float32, CPU>)\n"
    "}\n";

/// A run of a pipeline with an epsilon that its user grants.
struct GrantedRun {
  explicit GrantedRun(double epsilon) : reading(std::string(kNorm)), module(reading.module()) {
    ConversionFacts given;
    given.granted.rms_epsilon = epsilon;
    facts.set(std::move(given));
  }
  void run(const Pipeline& pipeline) {
    is_good =
        run_pipeline(module, pipeline, {.facts = &facts, .reports = &reports}, reading.diagnostics);
  }
  std::vector<std::string> assumed() {
    std::vector<std::string> list;
    for (const LossEntry& each : reports.get<LossReport>().entries) {
      if (each.source == LossEntry::Source::kAssumed) list.push_back(each.fact + "=" + each.used);
    }
    return list;
  }

  Reading reading;
  Module& module;
  TypedMap facts, reports;
  bool is_good = false;
};

TEST_CASE("threads upgrade by the passes of one registry, each with its own facts and losses") {
  Passes known;
  const auto pipeline = known.read("upgrade");
  REQUIRE(pipeline);
  GrantedRun first(1e-5), second(1e-6);
  std::array<std::thread, 2> threads = {std::thread([&] { first.run(*pipeline); }),
                                        std::thread([&] { second.run(*pipeline); })};
  for (std::thread& each : threads) each.join();
  CHECK(first.is_good);
  CHECK(second.is_good);
  CHECK(std::ranges::count(first.assumed(), "epsilon=1e-05") == 1);
  CHECK(std::ranges::count(second.assumed(), "epsilon=1e-06") == 1);
  CHECK(first.assumed().size() == second.assumed().size());
  CHECK(print(first.module).find("epsilon:1e-05") != std::string::npos);
  CHECK(print(second.module).find("epsilon:1e-06") != std::string::npos);
}

TEST_CASE("a pipeline without facts reads none, whatever an earlier one was given") {
  Passes known;
  GrantedRun granted(1e-5);
  granted.run(*known.read("upgrade"));
  CHECK(granted.is_good);
  Reading reading{std::string(kNorm)};
  const Lines problems = known.run(reading.module(), "upgrade");
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().find("epsilon is lost") != std::string::npos);
  // Its losses are not those of the earlier one.
  CHECK(granted.reports.get<LossReport>().count(LossEntry::Source::kRefused) == 0);
}

TEST_CASE("a fix-up before verification reads facts and writes reports, too") {
  Passes known;
  known.registry.add({.name = "fixed",
                      .summary = "fixes",
                      .run = [](PassRun& run) { return run.result(); },
                      .fix_up =
                          [](PassRun& run) {
                            CHECK(run.facts<ConversionFacts>().granted.rms_epsilon == 1e-5);
                            LossEntry entry;
                            entry.source = LossEntry::Source::kAssumed;
                            entry.fact = "a";
                            entry.used = "b";
                            run.report<LossReport>().entries.push_back(entry);
                          }});
  GrantedRun granted(1e-5);
  granted.run(*known.read("fixed"));
  CHECK(granted.is_good);
  CHECK(granted.assumed() == Lines{"a=b"});
}

}  // namespace
}  // namespace mir::test
