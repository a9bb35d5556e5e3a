// The forms of a module mean the same: lowered, lifted again, as a dump and back, it gives the bits
// that it gave, or the conversion says what it has no place for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "module_runs.hpp"
#include "sample_changes.hpp"
#include "upgrade/lower_program.hpp"

namespace form_properties {

using namespace mir;
using namespace mir::test;

namespace {

std::multiset<std::string> locations_in(const std::string& text) {
  std::multiset<std::string> found;
  for (auto at = text.find("loc("); at != text.npos; at = text.find("loc(", at + 1)) {
    found.insert(text.substr(at, text.find(')', at) - at));
  }
  return found;
}

/// The attributes of named ops that a conversion left out, granted to the one that goes back.
UpgradeOptions granted_from(const LossReport& dropped) {
  UpgradeOptions options;
  for (const LossEntry& entry : dropped.entries) {
    const auto open = entry.op.find('\'');
    if (open == entry.op.npos || entry.fact.find(' ') != entry.fact.npos) continue;
    if (entry.fact == "name") continue;  // of the op itself
    const std::string name = entry.op.substr(open + 1, entry.op.size() - open - 2);
    options.grants.push_back({Grant::Kind::kAttribute, name, entry.fact, entry.used});
  }
  return options;
}

bool has_fact(const LossReport& report, LossEntry::Source source, std::string_view fact) {
  return std::ranges::any_of(report.entries, [&](const LossEntry& entry) {
    return entry.source == source && entry.fact.starts_with(fact);
  });
}

/// Of the outputs that both have by name; empty: they agree.
std::string difference_by_name(const Outcome& a, const Outcome& b) {
  std::string differing;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const auto found = std::ranges::find(b.names, a.names[i]);
    if (found == b.names.end()) {
      differing += "no output " + a.names[i] + "\n";
      continue;
    }
    const Tensor& other = b.tensors[static_cast<std::size_t>(found - b.names.begin())];
    differing += difference({{}, {a.tensors[i]}}, {{}, {other}});
  }
  return differing;
}

/// The program of a sample; empty: it is refused.
std::string lowered(const Sample& of) {
  Subject subject(of.text);
  LossReport losses;
  Diagnostics problems;
  if (!lower_program(subject.module(), losses, problems)) {
    CHECK(losses.count(LossEntry::Source::kRefused) > 0);
    return "";
  }
  const std::string program = print(subject.module());
  CAPTURE(program);
  CHECK(findings(subject.module()) == "");
  CHECK(locations_in(program) == locations_in(of.text));
  return program;
}

void check_lifted(const Sample& of, const std::string& program) {
  CAPTURE(program);
  Subject subject(program);
  REQUIRE(subject.problems() == "");
  LossReport losses;
  Diagnostics problems;
  REQUIRE(upgrade(subject.module(), {}, losses, problems));
  const std::string lifted = print(subject.module());
  CAPTURE(lifted);
  CHECK(locations_in(lifted) == locations_in(of.text));
  const Attempt graphs = run_graphs(subject.module(), of.inputs);
  CHECK(graphs.refusal == "");
  if (graphs.refusal.empty()) CHECK(difference(of.outcome, graphs.outcome) == "");
}

/// Each step of an upgrade works on any dump, whatever ran before it.
void check_step_alone(const std::string& dump, std::uint64_t number) {
  Subject subject(dump);
  PassRegistry registry;
  register_conversions(registry);
  const auto& steps = registry.pipelines().find("upgrade")->second.pipeline.items;
  const PipelineItem& step = steps[number % steps.size()];
  CAPTURE(step.pass->name);
  Diagnostics problems;
  TypedMap reports;
  const bool good =
      run_pipeline(subject.module(), {.items = {step}}, {.reports = &reports}, problems);
  CHECK((good || reports.get<LossReport>().count(LossEntry::Source::kRefused) > 0));
  if (subject.module().is_portable()) return;
  Subject again(print(subject.module()));
  CHECK(again.problems() == "");
  Diagnostics found;
  CHECK((!again.is_read() || verify(again.module(), found)));
}

/// False where the dump has no place for something, or does not tell what was meant.
bool comes_back(const Sample& of, std::uint64_t number) {
  Subject dumped(of.text);
  LossReport losses;
  Diagnostics problems;
  if (!downgrade(dumped.module(), Generation::k2025_12, losses, problems)) {
    CHECK(losses.count(LossEntry::Source::kRefused) > 0);
    return false;
  }
  const std::string dump = print(dumped.module());
  CAPTURE(dump);
  check_step_alone(dump, number);
  Subject back(dump);
  REQUIRE(back.problems() == "");
  LossReport found;
  if (!upgrade(back.module(), granted_from(losses), found, problems)) {
    CHECK(found.count(LossEntry::Source::kRefused) > 0);
    return false;
  }
  const std::string upgraded = print(back.module());
  CAPTURE(upgraded);
  const Attempt graphs = run_graphs(back.module(), of.inputs);
  CHECK(graphs.refusal == "");
  // Who reads which piece is assumed where a dump says it of several.
  const bool is_open = has_fact(losses, LossEntry::Source::kDropped, "operand ") &&
                       has_fact(found, LossEntry::Source::kAssumed, "pieces");
  if (!graphs.refusal.empty() || is_open) return false;
  CHECK(difference_by_name(of.outcome, graphs.outcome) == "");
  return true;
}

}  // namespace

TEST_SUITE("forms") {
  TEST_CASE("a lowered module that is lifted again gives the same bits") {
    std::uint64_t tried = 0, compared = 0;
    for (const std::uint64_t seed : seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      const auto found = sample(seed, garnished, OwnOps::kNo);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      const std::string program = lowered(*found);
      if (program.empty()) continue;
      check_lifted(*found, program);
      ++compared;
    }
    // Refused are graphs that are called twice.
    CHECK(compared * 10 > tried * 9);
    CHECK(tried * 5 > seed_count(kAllSeeds));
  }

  TEST_CASE("a dump of a module gives the same bits, or what it lost is refused") {
    std::uint64_t tried = 0, compared = 0;
    for (const std::uint64_t seed : seeds_of(kAllSeeds)) {
      CAPTURE(seed);
      const auto found = sample(seed, named, OwnOps::kNo);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      compared += comes_back(*found, tried) ? 1 : 0;
    }
    // Refused are facts that are granted by a name which several ops have.
    CHECK(compared * 5 > tried * 3);
  }
}

}  // namespace form_properties
