#include "mir/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "known_passes.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/codes/verification.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "passes/pass_texts.hpp"
#include "passes/run/in_threads.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace pass_test {

namespace {

/// The module after the passes; what went wrong instead.
std::string after(const std::string& text, std::string_view pipeline) {
  Reading reading(text);
  Passes all;
  all.registry.add({.name = "only-dumps",
                    .summary = "takes dumps",
                    .takes = PassForm::kDump,
                    .run = [](PassRun& run) { return run.result(); }});
  const Lines problems = all.run(reading.module(), pipeline);
  return problems.empty() ? print(reading.module()) : problems.front();
}

/// A portable module: a body that calls @f and @g; @g has a graph @h inside.
constexpr std::string_view kGraphs =
    R"(@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @f <CPU> {
        (%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>) {
            linalg.CPU.NegOp<name="f.neg">(%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%3:tensor<[2], Float32, CPU>) -> ()
        }
    }
    graph.SubGraphOp @g <CPU> {
        (%4:tensor<[2], Float32, CPU>) -> (%5:tensor<[2], Float32, CPU>) {
            graph.SubGraphOp @h <CPU> {
                (%6:tensor<[2], Float32, CPU>) -> (%7:tensor<[2], Float32, CPU>) {
                    linalg.CPU.NegOp<name="h.neg">(%6:tensor<[2], Float32, CPU>) -> (%7:tensor<[2], Float32, CPU>)
                    cf.ReturnOp (%7:tensor<[2], Float32, CPU>) -> ()
                }
            }
            graph.CallGraphOp @h (%4:tensor<[2], Float32, CPU>) -> (%5:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%5:tensor<[2], Float32, CPU>) -> ()
        }
    }
    graph.CallGraphOp @f (%0:tensor<[2], Float32, CPU>) -> (%8:tensor<[2], Float32, CPU>)
    graph.CallGraphOp @g (%8:tensor<[2], Float32, CPU>) -> (%9:tensor<[2], Float32, CPU>)
    linalg.CPU.AddOp(%8:tensor<[2], Float32, CPU>, %9:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()
}
)";

/// What an op is called in what a pass notes.
std::string name_of(const Op& op) {
  const IRContext& context = op.module().context();
  const Symbol name = op.has_path() ? op.path() : op.symbol();
  return name ? std::string(context.text(name)) : std::string(op.name());
}

/// Adds passes that note on what they are run: `note-graphs`, ...
void add_notes(PassRegistry& registry, Lines& notes) {
  const auto note = [&notes](PassRun& run) {
    notes.push_back(name_of(run.anchor()));
    return run.result();
  };
  registry.add({.name = "note-modules", .summary = "notes", .run = note});
  registry.add({.name = "note-graphs", .summary = "notes", .anchor = Anchor::kGraph, .run = note});
  registry.add(
      {.name = "note-regions", .summary = "notes", .anchor = Anchor::kRegion, .run = note});
  registry.add({.name = "note-ops", .summary = "notes", .anchor = Anchor::kOp, .run = note});
  registry.add({.name = "note-negs",
                .summary = "notes",
                .anchor = Anchor::kOp,
                .op = "linalg.NegOp",
                .run = note});
}

/// On what a pipeline of passes that note is run, in order.
Lines noted(std::string_view pipeline) {
  Reading reading{std::string(kGraphs)};
  Passes all;
  Lines notes;
  add_notes(all.registry, notes);
  const auto read = all.read(pipeline);
  REQUIRE(read);
  Diagnostics diagnostics;
  CHECK(run_pipeline(reading.module(), *read, {}, diagnostics));
  for (const Diagnostic& each : diagnostics.sorted()) notes.push_back(each.message);
  return notes;
}

/// Adds an op after each negation, and changes its result's type to what the symbol of a new value
/// does not matter for: `double-negs`.
PassResult double_negs(PassRun& run) {
  Rewriter rewriter(run.module());
  walk(run.region(), [&](Op& op) {
    if (op.has(Trait::kIsolated)) return WalkResult::kSkip;
    if (!op.is(OpId::kLinalgNeg) || !op.has_path()) return WalkResult::kContinue;
    Value* operand = op.result();
    const Type* type = operand->type();
    rewriter.set_insertion_point_after(op);
    Op* made = nullptr;
    for (int i = 0; i < 2; ++i) {
      made = rewriter.create(
          {.name = op.op_name(), .operands = {&operand, 1}, .result_types = {&type, 1}});
      operand = made->result();
    }
    rewriter.replace_uses_if(*op.result(), *made->result(),
                             [&](const Use& use) { return use.user() != made->previous(); });
    run.count("negations doubled");
    return WalkResult::kContinue;
  });
  return run.result();
}

class Recorder : public PassObserver {
 public:
  void will_run(const PassStep& step, Module&) override {
    lines.push_back("before " + step.spelling());
  }
  bool did_run(const PassStep& step, Module&, const PassReport& report, Diagnostics&) override {
    lines.push_back((report.result == PassResult::kChanged ? "changed " : "unchanged ") +
                    step.spelling());
    last = report;
    return goes_on;
  }
  void did_end(Module&, bool good, Diagnostics&) override {
    if (!good) lines.emplace_back("failed");
  }

  Lines lines;
  PassReport last;
  bool goes_on = true;
};

struct OpCount {
  static constexpr std::string_view kAnalysisName = "op count";
  explicit OpCount(const Region& graph) {
    for (const Op* op : test::ops_of(graph)) count += op != nullptr;
  }
  std::size_t count = 0;
  bool operator==(const OpCount&) const = default;
};
struct GraphCount {
  static constexpr std::string_view kAnalysisName = "graph count";
  GraphCount(const Module&, Analyses& analyses)
      : count(analyses.get<CallGraph>().graphs().size()) {}
  std::size_t count;
  bool operator==(const GraphCount&) const = default;
};

}  // namespace

TEST_SUITE("passes") {
  TEST_CASE("a pass is run on each of its anchors, those of a module body first") {
    CHECK(noted("note-modules") == Lines{"main"});
    CHECK(noted("note-graphs") == Lines{"main", "f", "g", "h"});
    CHECK(noted("note-regions") == Lines{"main", "f", "g", "h"});
    CHECK(noted("note-negs") == Lines{"f.neg", "h.neg"});
    CHECK(noted("note-ops") == Lines{"f", "g", "f", "g", "linalg.AddOp", "cf.ReturnOp", "f.neg",
                                     "cf.ReturnOp", "h", "h", "cf.ReturnOp", "h.neg",
                                     "cf.ReturnOp"});
  }

  TEST_CASE("groups select modules, graphs and ops by name and kind") {
    CHECK(noted("module(@main:note-graphs)") == Lines{"main", "f", "g", "h"});
    CHECK(noted("graph(@f:note-ops)") == Lines{"f.neg", "cf.ReturnOp"});
    CHECK(noted("graph(@?:note-graphs)") == Lines{"f", "g", "h"});
    CHECK(noted("graph(@main:note-regions)") == Lines{"main"});
    CHECK(noted("graph(@h:linalg.NegOp(note-ops))") == Lines{"h.neg"});
    CHECK(noted("linalg.NegOp(@f.*:note-ops)") == Lines{"f.neg"});
    CHECK(noted("graph.CallGraphOp(@h:note-ops)") == Lines{"h"});
    CHECK(noted("op(@h*:note-negs)") == Lines{"h.neg"});
    CHECK(noted("graph(@f:note-graphs),graph(@h:note-graphs,note-negs)") ==
          Lines{"f", "h", "h.neg"});
  }

  TEST_CASE("a selector that names nothing is a warning") {
    CHECK(noted("graph(@nothing:note-graphs)") ==
          Lines{"'graph(@nothing:note-graphs)' selects nothing"});
    CHECK(noted("module(@other:note-graphs)") ==
          Lines{"'module(@other:note-graphs)' selects nothing"});
    CHECK(noted("linalg.MatMulOp(note-ops)") == Lines{});
  }

  TEST_CASE("observers see each pass with its result and its statistics") {
    Reading reading{std::string(kGraphs)};
    Passes all;
    all.registry.add({.name = "double-negs",
                      .summary = "doubles",
                      .anchor = Anchor::kGraph,
                      .run = double_negs});
    Recorder recorder;
    CHECK(all.run(reading.module(), "graph(@f:double-negs),eliminate-dead-ops",
                  {.observers = {&recorder}}) == Lines{});
    CHECK(recorder.lines == Lines{"before graph(@f:double-negs)", "changed graph(@f:double-negs)",
                                  "before eliminate-dead-ops", "unchanged eliminate-dead-ops"});
    CHECK(recorder.last.anchors == 4);
    CHECK(recorder.last.statistics == PassStatistics{{"ops removed", 0}});
  }

  TEST_CASE("an observer ends a run") {
    Reading reading("@main () -> () {\n// a\n}\n");
    Passes all;
    Recorder recorder;
    recorder.goes_on = false;
    const auto pipeline = all.read("eliminate-debug,upgrade");
    REQUIRE(pipeline);
    Diagnostics diagnostics;
    CHECK_FALSE(run_pipeline(reading.module(), *pipeline, {.observers = {&recorder}}, diagnostics));
    CHECK(recorder.lines.size() == 3);
    CHECK(recorder.lines.back() == "failed");
    CHECK_FALSE(reading.module().is_portable());
  }

  TEST_CASE("a pipeline whose passes do not fit the form is refused before anything is run") {
    const std::string portable = "@main [mir_version:1] () -> () {\n    cf.ReturnOp () -> ()\n}\n";
    CHECK(after("@main () -> () {\n}\n", "eliminate-dead-ops") ==
          "1:1 MIR0317 pass 'eliminate-dead-ops' takes modules in portable form");
    CHECK(after(portable, "only-dumps") ==
          "1:1 MIR0317 pass 'only-dumps' takes modules in dump form");
    CHECK(after(portable, "eliminate-dead-ops") == portable);
    Reading reading(portable);
    Passes all;
    CHECK(all.run(reading.module(), "downgrade,eliminate-dead-ops") ==
          Lines{"1:1 MIR0317 pass 'eliminate-dead-ops' takes modules in portable form, 'downgrade' "
                "gives a dump"});
    CHECK(print(reading.module()) == portable);
    CHECK(all.run(reading.module(), "downgrade,upgrade,eliminate-dead-ops") == Lines{});
  }

  TEST_CASE("the declaration of a pass is checked") {
    Passes all;
    all.registry.add({.name = "liar", .summary = "lies", .run = [](PassRun& run) {
                        Rewriter(run.module())
                            .set_symbol(*run.module().top(), run.module().context().intern("x"));
                        return PassResult::kUnchanged;
                      }});
    Reading reading{std::string(kGraphs)};
    CHECK(
        all.run(reading.module(), "liar") ==
        Lines{"- MIR0921 pass 'liar' declares that it changed nothing, but it edited the module"});
    Reading other{std::string(kGraphs)};
    CHECK(all.run(other.module(), "liar", {.checks_claims = false}) == Lines{});
    all.registry.add({.name = "boaster", .summary = "boasts", .run = [](PassRun&) {
                        return PassResult::kChanged;
                      }});
    Recorder recorder;
    CHECK(all.run(other.module(), "boaster", {.observers = {&recorder}}) == Lines{});
    CHECK(recorder.lines.back() == "unchanged boaster");
  }

  TEST_CASE("an analysis that a pass says to preserve, and does not, is named") {
    Passes all;
    const auto edit = [](PassRun& run) {
      [[maybe_unused]] const auto& known = run.analysis<CallGraph>();
      std::vector<Op*> calls;
      for (Op* op : run.region().only_block().ops()) {
        if (isa<CallGraphOp>(op)) calls.push_back(op);
      }
      Rewriter rewriter(run.module());
      Value* operand = calls.back()->operand(0);
      rewriter.replace(*calls.back(), {&operand, 1});
      return run.result();
    };
    all.registry.add({.name = "loose", .summary = "edits", .run = edit});
    all.registry.add({.name = "strict",
                      .summary = "edits",
                      .preserves = AnalysisSet::of<CallGraph>(),
                      .run = edit});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "loose") == Lines{});
    CHECK(
        all.run(reading.module(), "strict") ==
        Lines{
            "- MIR0921 pass 'strict' declares that it preserves analysis 'call graph', but changed "
            "it"});
  }

  TEST_CASE("a pass that does not keep its claim is run on no further graph") {
    Passes all;
    std::size_t runs = 0;
    all.registry.add({.name = "liar",
                      .summary = "edits",
                      .preserves = AnalysisSet::of<OpCount>(),
                      .run = [&](PassRun& run) {
                        ++runs;
                        [[maybe_unused]] const auto& known = run.analysis<OpCount>();
                        Rewriter(run.module()).erase(*run.region().entry()->back());
                        return run.result();
                      }});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "liar").size() == 1);
    CHECK(runs == 1);
  }

  TEST_CASE("analyses are kept until a pass changes something and does not preserve them") {
    Passes all;
    std::vector<const void*> seen;
    const auto look = [&](PassRun& run) {
      if (run.anchor().is(OpId::kBuiltinModule)) seen.push_back(&run.analysis<Dominance>());
      return run.result();
    };
    all.registry.add({.name = "look", .summary = "looks", .anchor = Anchor::kGraph, .run = look});
    all.registry.add({.name = "rename", .summary = "renames", .run = [](PassRun& run) {
                        Rewriter(run.module())
                            .set_symbol(*run.module().top(), run.module().context().intern("x"));
                        return run.result();
                      }});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "look,look,eliminate-dead-ops,look,rename,look") == Lines{});
    REQUIRE(seen.size() == 4);
    CHECK(seen[0] == seen[1]);
    CHECK(seen[1] == seen[2]);
    CHECK(all.run(reading.module(), "look,rename,look") == Lines{});
  }

  TEST_CASE("an analysis is computed again for an anchor if the pass has edited since") {
    Passes all;
    std::vector<std::size_t> views;
    // Each run removes a view and asks before and after.
    all.registry.add({.name = "drop-views",
                      .summary = "edits",
                      .anchor = Anchor::kOp,
                      .op = "linalg.ViewOp",
                      .run = [&](PassRun& run) {
                        const Value& input = run.region().entry_arguments()[0];
                        views.push_back(run.analysis<Aliases>().views(input).size());
                        Rewriter(run.module()).erase(run.anchor());
                        views.push_back(run.analysis<Aliases>().views(input).size());
                        return run.result();
                      }});
    Reading reading(
        "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>) {\n"
        "linalg.CPU.ViewOp [to_shape:[1, 2]] (%0) -> (%1:tensor<[1, 2], Float32, CPU>)\n"
        "linalg.CPU.ViewOp [to_shape:[2, 1]] (%0) -> (%2:tensor<[2, 1], Float32, CPU>)\n"
        "cf.ReturnOp (%0) -> ()\n}\n");
    CHECK(all.run(reading.module(), "drop-views") == Lines{});
    CHECK(views == std::vector<std::size_t>{2, 1, 1, 0});
  }

  TEST_CASE("a pass on graphs reads the analyses of the module that it declares, in any thread") {
    for (const unsigned threads : {1U, 4U}) {
      std::map<std::string, std::size_t> called;
      std::mutex mutex;
      const auto look = [&](PassRun& run) {
        const auto& calls = run.analysis<CallGraph>();
        const std::lock_guard lock(mutex);
        called[name_of(run.anchor())] = calls.callees(run.anchor()).size();
        return run.result();
      };
      Passes all;
      all.registry.add({.name = "look",
                        .summary = "looks",
                        .anchor = Anchor::kGraph,
                        .reads = AnalysisSet::of<CallGraph, Effects>(),
                        .run = look});
      all.registry.add(
          {.name = "sneak", .summary = "looks", .anchor = Anchor::kGraph, .run = look});
      Reading reading{std::string(kGraphs)};
      CHECK(all.run(reading.module(), "look", {.threads = threads}) == Lines{});
      CHECK(called ==
            std::map<std::string, std::size_t>{{"f", 0}, {"g", 1}, {"h", 0}, {"main", 2}});
      CHECK(all.run(reading.module(), "sneak", {.threads = threads}).front() ==
            "- MIR0921 pass 'sneak' asks for analysis 'call graph', which it does not declare");
    }
  }

  TEST_CASE("a library user adds analyses, of graphs and of modules, which may use others") {
    static_assert(OfModule<GraphCount> && !OfModule<OpCount>);
    std::vector<std::size_t> counts;
    Passes all;
    all.registry.add({.name = "look", .summary = "looks", .run = [&](PassRun& run) {
                        counts.push_back(run.analysis<OpCount>().count);
                        counts.push_back(run.analysis<GraphCount>().count);
                        return run.result();
                      }});
    all.registry.add({.name = "liar",
                      .summary = "edits",
                      .preserves = AnalysisSet::of<OpCount>(),
                      .run = [](PassRun& run) {
                        Rewriter(run.module()).erase(*run.region().entry()->back());
                        return run.result();
                      }});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "look,liar") ==
          Lines{"- MIR0921 pass 'liar' declares that it preserves analysis 'op count', but changed "
                "it"});
    CHECK(counts == std::vector<std::size_t>{6, 4});
  }

  TEST_CASE("a pass may be built at run time, and a name that is taken or malformed is refused") {
    PassRegistry registry;
    for (const std::string_view name : {"a-b2", "x"}) {
      std::string text(name);
      CHECK(registry
                .try_add({.name = text,
                          .summary = "built",
                          .run = [](PassRun& run) { return run.result(); }})
                .ok());
      text.assign(text.size(), '?');
    }
    CHECK(registry.find("a-b2") != nullptr);
    const auto problem = [&](std::string name) {
      const auto added = registry.try_add(
          {.name = std::move(name), .run = [](PassRun& run) { return run.result(); }});
      return added ? "" : added.error().message;
    };
    CHECK(problem("x") == "pass 'x' is already registered");
    for (const std::string name : {"", "-a", "a-", "a--b", "a b", "a(b)"}) {
      CHECK(problem(name) ==
            fmt::format("pass '{}' needs a name of letters, digits and single '-'", name));
    }
    CHECK(registry.try_add({.name = "idle"}).error().message ==
          "pass 'idle' has no function to run");
  }

  TEST_CASE("passes that are added together are all added or none of them") {
    PassRegistry registry;
    const auto run = [](PassRun& each) { return each.result(); };
    CHECK(registry.try_add_all({{.name = "a", .run = run}, {.name = "b", .run = run}}).ok());
    const auto problem = [&](Pass last) {
      const auto added = registry.try_add_all(
          {{.name = "c", .run = run}, {.name = "d", .run = run}, std::move(last)});
      return added ? "" : added.error().message;
    };
    CHECK(problem({.name = "b", .run = run}) == "pass 'b' is already registered");
    CHECK(problem({.name = "c", .run = run}) == "two passes are called 'c'");
    CHECK(problem({.name = "e"}) == "pass 'e' has no function to run");
    CHECK(registry.passes().size() == 2);
    CHECK(problem({.name = "e", .run = run}) == "");
    CHECK(registry.passes().size() == 5);
  }

  TEST_CASE("each text of testdata/passes/data belongs to a pass") {
    const Passes known;
    for (const PassText& each : pass_texts()) {
      CAPTURE(each.name);
      const Pass* pass = known.registry.find(each.name);
      REQUIRE(pass != nullptr);
      CHECK(each.text.ends_with(pass->example));
    }
    const Pass& granted = *known.registry.find("take-grants");
    CHECK(granted.example_facts == Lines{"--assume=Clip.max_val=6.0"});
    CHECK(known.registry.find("bind-symbols")->example_options == "S=4");
    // Lines of one claim are joined.
    CHECK(known.registry.find("convert-types")->claim.find('\n') == std::string::npos);
    CHECK(known.registry.find("convert-types")->claim.starts_with("Each converted value y is"));
  }

  TEST_CASE("a pass changes its example") {
    Passes known;
    for (const auto& each : known.registry.passes()) {
      const Pass& pass = each.second;
      CAPTURE(pass.name);
      REQUIRE_FALSE(pass.example.empty());
      auto facts = example_facts(pass);
      REQUIRE(facts);
      TypedMap supplied;
      supplied.set(*std::move(facts));
      Reading reading(pass.example), unchanged(pass.example);
      REQUIRE(reading.errors() == Lines{});
      // Dialects that the example uses are before it.
      Module& module = *reading.modules.back();
      CHECK(known.run(module, example_pipeline(pass), {.facts = &supplied}) == Lines{});
      CHECK(print(module) != print(*unchanged.modules.back()));
    }
  }

  TEST_CASE("after a refusal only passes run that report more, unobserved and unverified") {
    Passes all;
    const auto refuse = [](std::string what) {
      return [what](PassRun& run) {
        run.diagnostics().error(diag::kLostMeaning, {}, what);
        return PassResult::kRefused;
      };
    };
    all.registry.add({.name = "refuse", .summary = "refuses", .run = refuse("one")});
    all.registry.add(
        {.name = "refuse-more", .summary = "refuses", .after_refusal = true, .run = refuse("two")});
    all.registry.add({.name = "mute", .summary = "refuses", .run = [](PassRun&) {
                        return PassResult::kRefused;
                      }});
    Reading reading{std::string(kGraphs)};
    Recorder recorder;
    std::size_t verifications = 0;
    const PipelineRun how{.observers = {&recorder}, .verify = [&](Module&, Diagnostics&) {
                            ++verifications;
                            return true;
                          }};
    CHECK(all.run(reading.module(), "eliminate-dead-ops,refuse,refuse-more,eliminate-dead-ops,mute",
                  how) == Lines{"- MIR0700 one", "- MIR0700 two"});
    CHECK(recorder.lines == Lines{"before eliminate-dead-ops", "unchanged eliminate-dead-ops",
                                  "before refuse", "failed"});
    CHECK(verifications == 1);
    CHECK(all.run(reading.module(), "refuse-more,refuse") == Lines{"- MIR0700 two"});
    CHECK(all.run(reading.module(), "mute") ==
          Lines{"- MIR0921 pass 'mute' failed without reporting an error"});
  }

  TEST_CASE("a module is verified first, and after the passes that changed it") {
    Passes all;
    all.registry.add(
        {.name = "mark", .summary = "marks", .run = [](PassRun& run) {
           const Symbol key = run.module().context().intern("mark");
           Op& first = *run.region().entry()->front();
           if (first.attribute(key) == nullptr) {
             Rewriter(run.module()).set_attribute(first, key, run.module().context().boolean(true));
           }
           return run.result();
         }});
    Reading reading{std::string(kGraphs)};
    std::size_t verifications = 0;
    const PipelineRun how{.verify = [&](Module&, Diagnostics&) {
      ++verifications;
      return true;
    }};
    CHECK(all.run(reading.module(), "mark,mark,mark", how) == Lines{});
    CHECK(verifications == 2);
  }

  TEST_CASE("an idempotent pass runs again once something has changed") {
    Passes all;
    std::size_t runs = 0;
    const auto count = [&runs](PassRun& run) {
      ++runs;
      return run.result();
    };
    all.registry.add({.name = "once", .summary = "counts", .is_idempotent = true, .run = count});
    all.registry.add({.name = "always", .summary = "counts", .run = count});
    all.registry.add({.name = "mark", .summary = "marks", .run = [](PassRun& run) {
                        IRContext& context = run.module().context();
                        Rewriter(run.module())
                            .set_attribute(*run.region().entry()->front(), context.intern("mark"),
                                           context.boolean(true));
                        return run.result();
                      }});
    const auto runs_of = [&](std::string_view pipeline) {
      Reading reading{std::string(kGraphs)};
      runs = 0;
      CHECK(all.run(reading.module(), pipeline) == Lines{});
      return runs;
    };
    CHECK(runs_of("once,once,once") == 1);
    CHECK(runs_of("once,always,once") == 2);
    CHECK(runs_of("once,mark,once,once") == 2);
    CHECK(runs_of("always,always") == 2);
  }

  TEST_CASE("a pass that fails without a message is reported") {
    Passes all;
    all.registry.add(
        {.name = "mute", .summary = "fails", .run = [](PassRun&) { return PassResult::kFailed; }});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "mute") ==
          Lines{"- MIR0921 pass 'mute' failed without reporting an error"});
  }

  TEST_CASE("an analysis is made anew after a pass that does not preserve it") {
    Passes all;
    std::vector<std::size_t> callees, views;
    all.registry.add({.name = "look", .summary = "looks", .run = [&](PassRun& run) {
                        callees.push_back(run.analysis<CallGraph>().callees(run.anchor()).size());
                        return run.result();
                      }});
    all.registry.add({.name = "look-closer",
                      .summary = "looks",
                      .anchor = Anchor::kGraph,
                      .run = [&](PassRun& run) {
                        const Value& input = run.region().only_block().arguments()[0];
                        views.push_back(run.analysis<Aliases>().views(input).size());
                        return run.result();
                      }});
    all.registry.add({.name = "call-once", .summary = "edits", .run = [](PassRun& run) {
                        Op* call = run.region().entry()->terminator()->previous()->previous();
                        REQUIRE(isa<CallGraphOp>(call));
                        Value* operand = call->operand(0);
                        Rewriter(run.module()).replace(*call, {&operand, 1});
                        return run.result();
                      }});
    Reading reading{std::string(kGraphs)};
    CHECK(all.run(reading.module(), "look,call-once,look") == Lines{});
    CHECK(callees == std::vector<std::size_t>{2, 1});
    Reading other(
        "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>) {\n"
        "linalg.CPU.ViewOp [to_shape:[1, 2]] (%0) -> (%1:tensor<[1, 2], Float32, CPU>)\n"
        "cf.ReturnOp (%0) -> ()\n}\n");
    CHECK(all.run(other.module(), "look-closer,eliminate-dead-ops,look-closer") == Lines{});
    CHECK(views == std::vector<std::size_t>{1, 0});
  }

  TEST_CASE("graphs are worked on apart, and the text is the same with any number of threads") {
    std::string expected;
    for (const unsigned threads : {1U, 2U, 8U}) {
      Reading reading{std::string(kGraphs)};
      Passes all;
      all.registry.add({.name = "double-negs",
                        .summary = "doubles",
                        .anchor = Anchor::kGraph,
                        .run = double_negs});
      std::unordered_map<const Op*, std::uint32_t> ids;
      walk(reading.module(), [&](Op& op) {
        ids.emplace(&op, op.id());
        return WalkResult::kContinue;
      });
      const std::uint32_t end = reading.module().op_id_end();
      CHECK(all.run(reading.module(), "double-negs", {.threads = threads}) == Lines{});
      const std::string text = print(reading.module());
      if (expected.empty()) expected = text;
      CHECK(text == expected);
      // Names are given in the order of the text, after those that were there. Outputs keep theirs.
      const auto line_of = [&](std::string_view operand, std::string_view result) {
        const std::string_view type = ":tensor<[2], Float32, CPU>)";
        return text.find(fmt::format("NegOp({0}{1} -> ({2}{1}\n", operand, type, result));
      };
      CHECK(line_of("%14", "%10") != text.npos);
      CHECK(line_of("%10", "%3") != text.npos);
      CHECK(line_of("%15", "%12") != text.npos);
      CHECK(line_of("%12", "%7") != text.npos);
      CHECK(test::errors(text) == Lines{});
      // Ids stay, and each is of one op.
      std::vector<bool> seen(reading.module().op_id_end());
      walk(reading.module(), [&](Op& op) {
        CHECK(&op.module() == &reading.module());
        CHECK_FALSE(seen.at(op.id()));
        seen[op.id()] = true;
        const auto before = ids.find(&op);
        CHECK((before == ids.end() ? op.id() >= end : op.id() == before->second));
        return WalkResult::kContinue;
      });
    }
  }

  TEST_CASE("threads edit many graphs of one module, and the text is the same as without") {
    // `#` is the number of the graph, `$` a type.
    constexpr std::string_view kGraph = R"(graph.SubGraphOp @f# <CPU> {
(%x#:$) -> (%p#:$) {
linalg.CPU.NegOp<name="n#">(%x#:$) -> (%a#:$)
linalg.CPU.NegOp(%x#:$) -> (%b#:$)
linalg.CPU.AddOp(%a#:$, %b#:$) -> (%d#:$)
cf.IfOp (%y#:tensor<[1], Bool, CPU>[constant:[true]]) -> (%p#:$, %q#:$) {
() -> (%e#:$, %x#:$) {
linalg.CPU.ExpOp(%d#:$) -> (%e#:$)
cf.YieldOp (%e#:$, %x#:$) -> ()
}
() -> (%h#:$, %x#:$) {
linalg.CPU.SinOp(%d#:$) -> (%h#:$)
cf.YieldOp (%h#:$, %x#:$) -> ()
}
}
cf.ReturnOp (%p#:$) -> ()
}
}
)";
    std::string text = "@main [mir_version:2] () -> () {\n";
    for (int i = 0; i < 100; ++i) {
      for (const char c : kGraph) {
        if (c == '#') {
          text += std::to_string(i);
        } else if (c == '$') {
          text += "tensor<[2], Float32, CPU>";
        } else {
          text += c;
        }
      }
    }
    text += "}\n";
    std::string expected;
    for (const unsigned threads : {1U, 2U, 8U}) {
      Reading reading{text};
      Passes all;
      all.registry.add({.name = "double-negs",
                        .summary = "doubles",
                        .anchor = Anchor::kGraph,
                        .run = double_negs});
      CHECK(all.run(reading.module(),
                    "double-negs,canonicalize,cse,simplify-control-flow,double-negs,structure-to-"
                    "blocks,eliminate-dead-ops",
                    {.threads = threads}) == Lines{});
      const std::string printed = print(reading.module());
      if (expected.empty()) expected = printed;
      CHECK(printed == expected);
      CHECK(test::errors(printed) == Lines{});
      CHECK(printed.find("SinOp") == printed.npos);
    }
  }

  TEST_CASE("each turn of a loop in threads is taken once, and the first that throws is heard of") {
    for (const unsigned threads : {1U, 4U}) {
      std::mutex mutex;
      std::multiset<std::size_t> taken;
      std::string heard;
      try {
        for_each_in_threads(9, threads, [&](std::size_t i, std::size_t thread) {
          const std::scoped_lock lock(mutex);
          CHECK(thread < threads);
          taken.insert(i);
          if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error& thrown) {
        heard = thrown.what();
      }
      CHECK(heard == "3");
      CHECK(taken == std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
    }
  }

  TEST_CASE("what failed in one graph is reported, and so is what happened in the others") {
    Passes all;
    all.registry.add(
        {.name = "picky", .summary = "fails", .anchor = Anchor::kGraph, .run = [](PassRun& run) {
           if (name_of(run.anchor()) != "f") return run.result();
           run.diagnostics().error(diag::kUnknownOp, run.anchor().span(), "not here");
           return PassResult::kFailed;
         }});
    for (const unsigned threads : {1U, 4U}) {
      Reading reading{std::string(kGraphs)};
      Recorder recorder;
      CHECK(all.run(reading.module(), "picky", {.threads = threads, .observers = {&recorder}}) ==
            Lines{"2:5 MIR0400 not here"});
      CHECK(recorder.lines == Lines{"before picky", "failed"});
    }
  }
}

}  // namespace pass_test
