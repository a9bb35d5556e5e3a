// Texts that become smaller while something stays true of them.
#include "reduce/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "../passes/known_passes.hpp"
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
    const Run run(text, reduce::reports_code(DiagCode::kShapeMismatch, {passes.registry, none}));
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
      if (++tests > 100) return Error{DiagCode::kCancelled, "it does not end"};
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
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
      if (left-- == 0) return Error{DiagCode::kCancelled, "interrupted"};
      return mentions({"SiLUOp"})(text);
    });
    REQUIRE(run.report.stopped);
    CHECK(run.report.text == run.kept.back());
    CHECK(run.report.after.ops < run.report.before.ops);
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
