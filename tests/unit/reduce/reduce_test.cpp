// Texts that become smaller while something stays true of them.
#include "reduce/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "../passes/known_passes.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/usage.hpp"
#include "mir/verify.hpp"
#include "reduce/interests.hpp"
#include "reduce/steps.hpp"

using namespace mir;
using mir::test::Passes;

namespace reduce_test {

namespace {

constexpr std::string_view kT = "tensor<[2, $S], Float32, CPU>";

/// A module with a chain of `count` negations, one SiLU in the middle, and a softmax after it.
std::string chain(int count) {
  std::string ops;
  for (int i = 0; i < count; ++i) {
    const std::string_view op = i == count / 2       ? "SiLUOp"
                                : i == count / 2 + 1 ? "SoftmaxOp [axis:-1]"
                                                     : "NegOp";
    ops += fmt::format("    linalg.CPU.{} (%{}) -> (%{}:{})\n", op, i, i + 1, kT);
  }
  return fmt::format(
      "@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n{2}    cf.ReturnOp (%{1}) -> ()\n}}\n", kT,
      count, ops);
}

/// Two modules, of which the first calls a graph; many parts are not needed.
const std::string kTwoModules =
    R"(@main [mir_version:1] (%x:tensor<[4], Float32, CPU>, %n:tensor<[4], Float32, CPU>) -> (%z:tensor<[4], Float32, CPU>, %x:tensor<[4], Float32, CPU>) {
    graph.SubGraphOp @f <CPU> {
        (%a:tensor<[4], Float32, CPU>) -> (%c:tensor<[4], Float32, CPU>) {
            linalg.CPU.NegOp (%a) -> (%b:tensor<[4], Float32, CPU>)
            linalg.CPU.SiLUOp [k:1, l:2] (%b) -> (%c:tensor<[4], Float32, CPU>)
            cf.ReturnOp (%c) -> ()
        }
    }
    graph.CallGraphOp @f (%x) -> (%y:tensor<[4], Float32, CPU>)
    linalg.CPU.AbsOp (%y) -> (%z:tensor<[4], Float32, CPU>)
    cf.ReturnOp (%z, %x) -> ()
}
@other [mir_version:1] () -> () {
    cf.ReturnOp () -> ()
}
)";

struct Run {
  explicit Run(const std::string& text, reduce::Interest interest) : original(text) {
    const reduce::ReduceOptions options{
        .interest =
            [&, interest](const std::string& each) {
              CHECK(tested.insert(each).second);
              return interest(each);
            },
        .keep =
            [&](const std::string& each) {
              kept.push_back(each);
              return Result<void>();
            },
        .report = [&](const reduce::Success& success) { steps.emplace_back(success.step); }};
    auto result = reduce::reduce(text, passes.registry, options);
    if (result) {
      report = *std::move(result);
    } else {
      error = result.error().message;
    }
  }

  Passes passes;
  std::string original;
  std::set<std::string> tested;
  std::vector<std::string> kept, steps;
  reduce::ReduceReport report;
  std::string error;
};

reduce::Interest mentions(std::vector<std::string> words) {
  return [words](const std::string& text) -> Result<reduce::Answer> {
    return reduce::Answer{
        std::ranges::all_of(
            words, [&](const std::string& word) { return text.find(word) != std::string::npos; }),
        "a word is missing"};
  };
}

bool verifies(const std::string& text) {
  mir::test::Reading reading(text);
  Diagnostics found;
  return reading.errors().empty() &&
         std::ranges::all_of(reading.modules,
                             [&](const Module* module) { return verify(*module, found); });
}

}  // namespace

TEST_SUITE("reduction") {
  TEST_CASE("one op of a long chain remains, in logarithmically many tests") {
    const Run run(chain(400), mentions({"SiLUOp"}));
    CHECK(run.report.after.ops == 2);
    CHECK(run.report.after.lines == 4);
    CHECK(run.report.tests < 40);
    CHECK(run.report.text == run.kept.back());
  }

  TEST_CASE("ops that are needed together remain") {
    const Run run(chain(100), mentions({"SiLUOp", "SoftmaxOp"}));
    CHECK(run.report.after.ops == 3);
  }

  TEST_CASE("every text that is tested verifies if the original does") {
    const Run run(chain(30), mentions({"SiLUOp"}));
    CHECK(run.tested.size() > 5);
    for (const std::string& text : run.tested) CHECK(verifies(text));
  }

  TEST_CASE("texts that do not verify are tested if the original does not verify") {
    const std::string text =
        "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>, %1:tensor<[3], Float32, CPU>) -> () "
        "{\n"
        "    linalg.CPU.NegOp (%0) -> (%2:tensor<[2], Float32, CPU>)\n"
        "    linalg.CPU.AddOp (%2, %1) -> (%3:tensor<[2], Float32, CPU>)\n"
        "    cf.ReturnOp () -> ()\n}\n";
    Passes passes;
    const Pipeline none;
    const Run run(text, reduce::reports_code(diag::kShapeMismatch, {passes.registry, none}));
    CHECK(run.error == "");
    CHECK(run.report.after.ops == 2);
  }

  TEST_CASE("a second reduction changes nothing") {
    const Run first(chain(20), mentions({"SiLUOp"}));
    const Run second(first.report.text, mentions({"SiLUOp"}));
    CHECK(second.report.text == first.report.text);
    CHECK(second.steps.empty());
  }

  TEST_CASE("modules, graphs with their calls, parameters and symbols go") {
    const std::string text =
        R"(@main [mir_version:1] (%x:tensor<[2, $S, 4], Float32, CPU>) -> (%z:tensor<[2, $S, 6], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[6, 4], Float32, CPU>[@fc.weight])[symbol:fc.weight]
            tensor.CPU.register () -> (%v:tensor<[4], Float32, CPU>[@norm.weight])[symbol:norm.weight]
        }
    }
    graph.SubGraphOp @norm <CPU> {
        (%a:tensor<[2, $S, 4], Float32, CPU>) -> (%b:tensor<[2, $S, 4], Float32, CPU>) {
            linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-6] (%a) -> (%b:tensor<[2, $S, 4], Float32, CPU>)
            cf.ReturnOp (%b) -> ()
        }
    }
    graph.CallGraphOp @norm (%x) -> (%y:tensor<[2, $S, 4], Float32, CPU>)
    linalg.CPU.LinearOp <name="fc"> [in_channels:4, out_channels:6, bias:false] (%y) -> (%z:tensor<[2, $S, 6], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
@other [mir_version:1] () -> () {
    cf.ReturnOp () -> ()
}
)";
    const Run run(text, mentions({"LinearOp"}));
    CHECK(run.report.text.find("norm") == std::string::npos);
    CHECK(run.report.text.find("$S") == std::string::npos);
    CHECK(run.report.text.find("tensor<[1, 1], Float32, CPU>[@fc.weight]") != std::string::npos);
    CHECK(run.report.after.modules == 1);
    CHECK(run.report.after.graphs == 1);
    CHECK(verifies(run.report.text));
  }

  TEST_CASE("a graph that is called becomes the module") {
    const std::string text =
        R"(@main [mir_version:1] (%x:tensor<[4], Float32, CPU>) -> (%y:tensor<[4], Float32, CPU>) {
    graph.SubGraphOp @f <CPU> {
        (%a:tensor<[4], Float32, CPU>) -> (%c:tensor<[4], Float32, CPU>) {
            linalg.CPU.NegOp (%a) -> (%b:tensor<[4], Float32, CPU>)
            linalg.CPU.SiLUOp (%b) -> (%c:tensor<[4], Float32, CPU>)
            cf.ReturnOp (%c) -> ()
        }
    }
    graph.CallGraphOp @f (%x) -> (%y:tensor<[4], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";
    const Run run(text, mentions({"SiLUOp"}));
    CHECK(run.report.after.graphs == 0);
    CHECK(run.report.after.ops == 2);
  }

  TEST_CASE("a graph that cannot be inlined stays, and the reduction ends") {
    const std::string text =
        R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @f <CPU> {
        (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
            linalg.CPU.SiLUOp(%x) -> (%y:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%y) -> ()
        ^side:
            cf.ReturnOp (%x) -> ()
        }
    }
    graph.CallGraphOp @f (%x) -> (%z:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";
    std::size_t tests = 0;
    const Run run(text, [&](const std::string& each) -> Result<reduce::Answer> {
      if (++tests > 100) return Error{diag::kCancelled, "it does not end"};
      return mentions({"SubGraphOp"})(each);
    });
    CHECK_FALSE(run.report.stopped);
    CHECK(run.report.after.graphs == 1);
  }

  TEST_CASE("extents of regions shrink with those of their values") {
    const std::string text =
        R"(@main [mir_version:2] (%x:tensor<[6, 4], Float32, CPU>) -> (%z:tensor<[6, 4], Float32, CPU>) {
    graph.FusedOp () -> (%z:tensor<[6, 4], Float32, CPU>) {
        () -> (%z:tensor<[6, 4], Float32, CPU>) {
            linalg.CPU.SiLUOp (%x) -> (%y:tensor<[6, 4], Float32, CPU>)
            cf.YieldOp (%y) -> ()
        }
    }
    cf.ReturnOp (%z) -> ()
}
)";
    REQUIRE(verifies(text));
    const Run run(text, mentions({"SiLUOp", "FusedOp"}));
    CHECK(run.report.text.find("tensor<[1, 1], Float32, CPU>") != std::string::npos);
    CHECK(run.report.text.find("[6") == std::string::npos);
    CHECK(run.report.text.find("4]") == std::string::npos);
    CHECK(verifies(run.report.text));
  }

  TEST_CASE("of the attributes of a value, those that are needed remain") {
    const std::string text =
        R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>[k:1, l:2, m:3]) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.SiLUOp (%x) -> (%y)
    cf.ReturnOp (%y) -> ()
}
)";
    const Run run(text, mentions({"SiLUOp", "k:1", "m:3"}));
    CHECK(run.report.text.find("[k:1, m:3]") != std::string::npos);
  }

  TEST_CASE("numbers of a constant become one number") {
    const std::string text =
        R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.AddOp (%x, %c:tensor<[2], Float32, CPU>[k:[3, 4], constant:[0.5, 0.25]]) -> (%y)
    cf.ReturnOp (%y) -> ()
}
)";
    const Run any(text, mentions({"AddOp", "tensor<[2]", "k:[3, 4]", "constant"}));
    CHECK(any.report.text.find("constant:[1, 1]") != std::string::npos);
    const Run first(text, mentions({"AddOp", "tensor<[2]", "k:[3, 4]", "constant:[0.5"}));
    CHECK(first.report.text.find("constant:[0.5, 0.5]") != std::string::npos);
  }

  TEST_CASE("an interest of results keeps what passes change") {
    Passes passes;
    const auto pipeline = passes.read("simplify");
    REQUIRE(pipeline);
    const auto interest = reduce::changes_results({passes.registry, *pipeline}, {});
    const auto answer = interest(chain(6));
    REQUIRE(answer);
    CHECK_FALSE(answer->is_interesting);
    CHECK(answer->found == "1000 runs give equal results");
  }

  TEST_CASE("an interest of results tells why a text is not interesting") {
    Passes passes;
    const std::string text = chain(2), dump = "@main () -> () {\n}\n";
    const auto answer = [&](std::string_view pipeline, const std::string& of) {
      const auto items = passes.read(pipeline);
      REQUIRE(items);
      const auto found = reduce::changes_results({passes.registry, *items}, {})(of);
      REQUIRE(found);
      return (found->is_interesting ? "changed: " : "") + found->found;
    };
    CHECK(answer("simplify", "no module") == "it cannot be read");
    CHECK(answer("strip-locations", dump) ==
          "only portable modules can be compared by running them");
    CHECK(answer("simplify", text) == "1000 runs give equal results");
    CHECK(answer("extract-graph{graph=none}", text) ==
          "the passes fail: the module has no graph '@none'; the graphs are: none");
    // Of several modules, the last one's answer, unless one is interesting.
    CHECK(answer("strip-locations", dump + text) == "1000 runs give equal results");
    CHECK(answer("strip-locations", text + dump) ==
          "only portable modules can be compared by running them");
  }

  TEST_CASE("results of two modules are compared within a bound") {
    const auto negated = [](std::string_view op) {
      return fmt::format(
          "@main [mir_version:1] (%x:{0}) -> (%y:{0}) {{\n    linalg.CPU.{1} (%x) -> (%y:{0})\n"
          "    cf.ReturnOp (%y) -> ()\n}}\n",
          "tensor<[2], Float32, CPU>", op);
    };
    mir::test::Reading neg(negated("NegOp")), abs(negated("AbsOp")), sin(negated("SinOp"));
    const auto different = reduce::compare(neg.module(), abs.module(), {});
    CHECK(different.is_interesting);
    CHECK(different.found ==
          "result 0, element 0: -0.6925368905067444 before, 0.6925368905067444 after");
    const auto same = reduce::compare(neg.module(), neg.module(), {});
    CHECK_FALSE(same.is_interesting);
    CHECK(same.found == "1000 runs give equal results");
    const auto within = reduce::compare(sin.module(), abs.module(), {.bound = 1e30});
    CHECK_FALSE(within.is_interesting);
    CHECK(within.found == "1000 runs give equal results");
  }

  TEST_CASE("an interest of a code lists the codes that are reported") {
    Passes passes;
    const auto none = passes.read("strip-locations");
    REQUIRE(none);
    const auto answer = [&](DiagCode code, const std::string& text) {
      const auto found = reduce::reports_code(code, {passes.registry, *none})(text);
      REQUIRE(found);
      return (found->is_interesting ? "yes, " : "no, ") + found->found;
    };
    const std::string mismatch =
        "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>, %1:tensor<[3], Float32, CPU>) -> () "
        "{\n"
        "    linalg.CPU.AddOp (%0, %1) -> (%3:tensor<[2], Float32, CPU>)\n"
        "    cf.ReturnOp () -> ()\n}\n";
    CHECK(answer(diag::kShapeMismatch, mismatch) == "yes, MIR0500 is reported");
    CHECK(answer(diag::kUsage, mismatch) == "no, MIR0500 is reported");
    CHECK(answer(diag::kShapeMismatch, chain(2)) == "no, no code is reported");
    CHECK(answer(diag::kShapeMismatch, chain(2) + mismatch) == "yes, MIR0500 is reported");
    CHECK(answer(diag::kShapeMismatch, "no module") == "no, MIR0201 is reported");
  }

  TEST_CASE("several jobs take the same steps to the same text, and count the same tests") {
    const auto log = [](unsigned jobs) {
      const Passes passes;
      std::vector<std::string> lines;
      std::atomic<int> most = 0, now = 0;
      const reduce::Interest inner = mentions({"SiLUOp", "SoftmaxOp"});
      const reduce::ReduceOptions options{
          .interest =
              [&](const std::string& text) {
                const int running = ++now;
                for (int seen = most;
                     seen < running && !most.compare_exchange_weak(seen, running);) {
                }
                // Waits for another test, so that tests overlap on a busy machine too.
                for (int i = 0; i < 100 && jobs > 1 && most < 2; ++i) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                --now;
                return inner(text);
              },
          .keep = [](const std::string&) { return Result<void>(); },
          .report =
              [&](const reduce::Success& success) {
                lines.push_back(
                    fmt::format("{} {} {}", success.step, success.after.bytes, success.tests));
              },
          .jobs = jobs};
      const auto report = reduce::reduce(chain(40), passes.registry, options);
      REQUIRE(report);
      CHECK(most > (jobs == 1 ? 0 : 1));
      CHECK(most <= static_cast<int>(jobs));
      lines.push_back(fmt::format("{} {}", report->tests, report->text));
      return lines;
    };
    const auto one = log(1);
    CHECK(one.size() > 3);
    CHECK(log(2) == one);
    CHECK(log(7) == one);
  }

  TEST_CASE("an uninteresting text is refused") {
    const Run run(chain(3), mentions({"TanhOp"}));
    CHECK(run.error == "it is not interesting in canonical form: a word is missing");
    CHECK(Run("no module", mentions({""})).error.starts_with("it cannot be read"));
  }

  TEST_CASE("an error of the test ends the reduction with the smallest text so far") {
    int left = 5;
    const Run run(chain(50), [&](const std::string& text) -> Result<reduce::Answer> {
      if (left-- == 0) return Error{diag::kCancelled, "interrupted"};
      return mentions({"SiLUOp"})(text);
    });
    REQUIRE(run.report.stopped);
    CHECK(run.report.text == run.kept.back());
    CHECK(run.report.after.ops < run.report.before.ops);
  }

  TEST_CASE("every step that made the text smaller is reported, with sizes and tests") {
    std::string log = "\n";
    const auto text_of = [](const reduce::Size& size) {
      return fmt::format("{} modules, {} graphs, {} ops, {} lines", size.modules, size.graphs,
                         size.ops, size.lines);
    };
    const Passes passes;
    const reduce::Interest inner = mentions({"SiLUOp", "k:1"});
    const reduce::ReduceOptions options{
        .interest =
            [&](const std::string& text) {
              auto answer = inner(text);
              log += answer->is_interesting ? "test: yes\n" : "test: no\n";
              return answer;
            },
        .keep =
            [&](const std::string& text) {
              log += fmt::format("keep {} bytes\n", text.size());
              return Result<void>();
            },
        .report =
            [&](const reduce::Success& success) {
              log += fmt::format("{}: {} -> {}, {} tests\n", success.step, text_of(success.before),
                                 text_of(success.after), success.tests);
            }};
    const auto report = reduce::reduce(kTwoModules, passes.registry, options);
    REQUIRE(report);
    log += fmt::format("{} -> {}, {} tests\n", text_of(report->before), text_of(report->after),
                       report->tests);
    CHECK(report->text ==
          R"(@main [mir_version:1] (%0:tensor<[1], Float32, CPU>) -> () {
    linalg.CPU.SiLUOp [k:1] (%0:tensor<[1], Float32, CPU>) -> (%1:tensor<[1], Float32, CPU>)
    cf.ReturnOp () -> ()
}
)");
    CHECK(log == R"(
test: yes
keep 853 bytes
test: no
test: yes
keep 792 bytes
drop modules: 2 modules, 1 graphs, 7 ops, 15 lines -> 1 modules, 1 graphs, 6 ops, 12 lines, 2 tests
test: no
test: no
test: yes
keep 677 bytes
drop ops: 1 modules, 1 graphs, 6 ops, 12 lines -> 1 modules, 1 graphs, 4 ops, 10 lines, 3 tests
test: no
test: no
test: yes
keep 614 bytes
drop ops: 1 modules, 1 graphs, 4 ops, 10 lines -> 1 modules, 1 graphs, 3 ops, 9 lines, 3 tests
test: yes
keep 272 bytes
extract a graph: 1 modules, 1 graphs, 3 ops, 9 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 1 tests
test: yes
keep 216 bytes
drop outputs: 1 modules, 0 graphs, 2 ops, 4 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 1 tests
test: no
test: yes
keep 186 bytes
drop inputs: 1 modules, 0 graphs, 2 ops, 4 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 2 tests
test: yes
keep 186 bytes
shrink extents: 1 modules, 0 graphs, 2 ops, 4 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 1 tests
test: no
test: yes
keep 181 bytes
drop attributes: 1 modules, 0 graphs, 2 ops, 4 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 2 tests
test: yes
keep 181 bytes
simplify names: 1 modules, 0 graphs, 2 ops, 4 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 1 tests
test: no
test: no
2 modules, 1 graphs, 7 ops, 15 lines -> 1 modules, 0 graphs, 2 ops, 4 lines, 19 tests
)");
  }

  TEST_CASE("a text in canonical form is kept without a test, another one is tested first") {
    const std::string text =
        "@main [mir_version:1] (%0:tensor<[1], Float32, CPU>) -> () {\n"
        "    cf.ReturnOp () -> ()\n}\n";
    const Run first(text, mentions({"@main"})), spaced(text + "\n", mentions({"@main"}));
    CHECK(first.kept.front() == text);
    CHECK(spaced.kept.front() == text);
    CHECK(spaced.report.tests == first.report.tests + 1);
    CHECK_FALSE(first.tested.contains(text));
    CHECK(spaced.tested.contains(text));
    CHECK(spaced.report.text == first.report.text);
  }

  TEST_CASE("an error of the test or of what keeps texts ends the reduction where it is") {
    const Passes passes;
    const std::string text = chain(8);
    // The canonical form has other white space: it is tested and kept at the beginning.
    const auto outcome = [&](int good_tests, int good_keeps) {
      const reduce::ReduceOptions options{
          .interest = [&](const std::string& each) -> Result<reduce::Answer> {
            if (good_tests-- == 0) return Error{diag::kCancelled, "no test"};
            return mentions({"SiLUOp"})(each);
          },
          .keep = [&](const std::string&) -> Result<void> {
            if (good_keeps-- == 0) return Error{diag::kCancelled, "no place"};
            return {};
          }};
      const auto report = reduce::reduce(text, passes.registry, options);
      if (!report) return "refused: " + report.error().message;
      const std::string end = report->stopped ? report->stopped->message : "finished";
      return fmt::format("{}: {} of {} ops", end, report->after.ops, report->before.ops);
    };
    CHECK(outcome(0, 100) == "refused: no test");
    CHECK(outcome(100, 0) == "refused: no place");
    CHECK(outcome(1, 100) == "no test: 9 of 9 ops");
    CHECK(outcome(100, 1) == "no place: 9 of 9 ops");
    CHECK(outcome(100, 2) == "no place: 5 of 9 ops");
    CHECK(outcome(2, 100) == "no test: 9 of 9 ops");
    CHECK(outcome(100, 100) == "finished: 2 of 9 ops");
  }

  TEST_CASE("any subset of the edits of a step leaves a text that can be read") {
    const std::string text = chain(6);
    Passes passes;
    for (const reduce::Step& step : reduce::all_steps()) {
      CAPTURE(step.name);
      Diagnostics found;
      const auto count = step.offer(*reduce::Draft::read(text, passes.registry, found)).list.size();
      for (std::size_t first = 0; first < count; ++first) {
        for (std::size_t last = first + 1; last <= count; ++last) {
          const auto draft = reduce::Draft::read(text, passes.registry, found);
          const reduce::Edits edits = step.offer(*draft);
          for (std::size_t i = first; i < last; ++i) edits.list[i]();
          if (edits.finish) edits.finish();
          if (draft->has_failed()) continue;
          CHECK(mir::test::Reading(draft->text()).errors().empty());
        }
      }
    }
  }
}

}  // namespace reduce_test
