// Random patterns: right ones keep their claims, wrong ones are refuted by counterexamples that
// replay.
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "mir/print.hpp"
#include "mir/validate.hpp"
#include "pattern_generator.hpp"
#include "pattern_subject.hpp"
#include "validate/run_module.hpp"

namespace pattern_properties {

using namespace mir;
using namespace mir::test;

namespace {

using PatternVerdictKind = PatternVerdict::Kind;

/// What instances of a pattern show that were made without it.
struct Evidence {
  int runs = 0, differences = 0;
};

/// True if the two modules of an instance differ. No value if they do not run, or have results of
/// other types: the pattern cannot match such an instance.
std::optional<bool> differs(const PatternInstance& instance, IRContext& context,
                            std::uint64_t seed) {
  Diagnostics problems;
  Module* before = read_module(instance.before, context, problems);
  Module* after = before == nullptr ? nullptr : read_module(instance.after, context, problems);
  if (after == nullptr) return std::nullopt;
  const auto inputs = drawn_inputs(*before, instance.claim, seed);
  if (!inputs) return std::nullopt;
  const auto expected = validate::run_module(*before, *inputs);
  const auto actual = validate::run_module(*after, *inputs);
  if (!expected || !actual) return std::nullopt;
  for (std::size_t i = 0; i < expected->size(); ++i) {
    const Tensor &a = (*expected)[i], &b = (*actual)[i];
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) return std::nullopt;
  }
  return validate::difference(*expected, *actual, instance.claim).has_value();
}

Evidence evidence(const GeneratedPattern& pattern, std::uint64_t seed, int tries) {
  Evidence found;
  IRContext context;
  register_builtin_dialects(context);
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t number = seed * 1000 + static_cast<std::uint64_t>(i);
    const auto differ = differs(pattern.instance(number), context, number);
    if (!differ) continue;
    ++found.runs;
    found.differences += *differ ? 1 : 0;
  }
  return found;
}

PatternVerdict verdict_of(PatternSubject& patterns, std::uint64_t count, std::uint64_t seed) {
  auto verdicts = validate_patterns(*patterns.module, {.count = count, .seed = seed});
  REQUIRE(verdicts.size() == 1);
  return std::move(verdicts.front());
}

/// The counterexample, run again from its texts.
void check_replay(const PatternVerdict& verdict) {
  REQUIRE(verdict.counterexample);
  const Counterexample& found = *verdict.counterexample;
  CAPTURE(found.before);
  CAPTURE(found.after);
  PatternSubject before(found.before), after(found.after);
  REQUIRE(before.errors() == "");
  const auto expected = validate::run_module(*before.module, found.inputs);
  REQUIRE(expected);
  CHECK_FALSE(validate::difference(found.expected, *expected, {}));
  REQUIRE(after.errors() == "");
  const auto actual = validate::run_module(*after.module, found.inputs);
  REQUIRE(actual);
  CHECK_FALSE(validate::difference(found.actual, *actual, {}));
  CHECK(validate::difference(*expected, *actual, verdict.claim));
}

/// The exit status of a tool of this build.
int status_of(const std::string& command) {
  const int status = std::system(fmt::format("{}/{} > /dev/null 2>&1", MIR_TOOLS, command).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The pack of a counterexample that `mllm-opt` writes, run by `mllm-interp`.
void check_pack(const GeneratedPattern& wrong, const std::string& text) {
  std::string folder = (std::filesystem::temp_directory_path() / "mir-patterns-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string file = folder + "/wrong.mir";
  std::ofstream(file) << text;
  CHECK(status_of(fmt::format("mllm-opt --validate-patterns={} --validate=200 --counterexamples={}",
                              file, folder)) == 1);
  CHECK(status_of(fmt::format("mllm-interp {}/{}.mirz", folder, wrong.name())) == 1);
  std::filesystem::remove_all(folder);
}

/// Reads and prints a text of patterns.
void check_text(const std::string& text) {
  PatternSubject subject(text);
  REQUIRE(subject.errors() == "");
  const std::string printed = print(*subject.module);
  PatternSubject again(printed);
  REQUIRE(again.errors() == "");
  CHECK(print(*again.module) == printed);
}

}  // namespace

TEST_SUITE("random patterns") {
  TEST_CASE("a right pattern reads as it prints and keeps its claim") {
    std::map<std::string, int> rules;
    std::uint64_t instances = 0;
    const Seeds seeds = seeds_of(160);
    for (const std::uint64_t seed : seeds) {
      const auto pattern = GeneratedPattern::make(seed, fmt::format("p{}", seed));
      const std::string text = file_of(pattern.text());
      CAPTURE(text);
      check_text(text);
      PatternSubject subject(text);
      const PatternVerdict verdict = verdict_of(subject, 30, seed);
      INFO(spelling(verdict));
      if (verdict.counterexample) {
        INFO(verdict.counterexample->before, verdict.counterexample->after);
        CHECK(verdict.kind == PatternVerdictKind::kKept);
      }
      CHECK(verdict.kind == PatternVerdictKind::kKept);
      instances += verdict.instances;
      for (const std::string& each : pattern.rules()) ++rules[each];
    }
    std::string figures = fmt::format("{} patterns, {} instances", seeds.count(), instances);
    for (const auto& [rule, uses] : rules) figures += fmt::format("\n  {} {}", uses, rule);
    report_figures(figures);
  }

  TEST_CASE("each equation takes part in patterns") {
    std::set<std::string> rules;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      const auto pattern = GeneratedPattern::make(seed, "p");
      rules.insert(pattern.rules().begin(), pattern.rules().end());
    }
    for (const TermRule& rule : term_rules()) {
      CAPTURE(rule.name);
      CHECK(rules.contains(std::string(rule.name)));
    }
  }

  TEST_CASE("a fault makes a pattern wrong: it is refused or refuted, and the example replays") {
    std::map<std::string, std::map<std::string, int>> outcomes;
    int refuted = 0, planted = 0;
    constexpr int kPacks = 4;
    const Seeds seeds = seeds_of(100);
    for (const std::uint64_t seed : seeds) {
      const auto right = GeneratedPattern::make(seed, fmt::format("p{}", seed));
      const auto wrong = right.with_fault(seed, fmt::format("w{}", seed));
      if (!wrong) continue;
      const std::string text = file_of(wrong->text());
      CAPTURE(text);
      CAPTURE(wrong->fault());
      auto& counts = outcomes[wrong->fault()];
      PatternSubject subject(text);
      if (subject.module == nullptr) {
        ++counts["refused"];
        continue;
      }
      ++planted;
      const PatternVerdict verdict = verdict_of(subject, 100, seed);
      INFO(spelling(verdict));
      if (verdict.kind == PatternVerdictKind::kRefuted) {
        ++counts["refuted"];
        ++refuted;
        check_replay(verdict);
        if (refuted <= kPacks) check_pack(*wrong, text);
        continue;
      }
      // Nothing refutes a fault that changes no result of any instance.
      const Evidence found = evidence(*wrong, seed, 40);
      CAPTURE(found.runs);
      CHECK(found.differences == 0);
      ++counts[found.runs == 0 ? "matches nothing" : "harmless"];
    }
    std::string figures = fmt::format("{} faults, {} refuted", planted, refuted);
    for (const auto& [fault, counts] : outcomes) {
      for (const auto& [outcome, times] : counts) {
        figures += fmt::format("\n  {} {}, {}", times, fault, outcome);
      }
    }
    report_figures(figures);
    CHECK(refuted * 10 > planted * 7);
  }
}

}  // namespace pattern_properties
