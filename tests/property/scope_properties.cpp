// Modules whose scopes have symbols of one name give the same bits after all passes that keep
// numbers, linked with others, with numbers for their symbols and as short texts. Their graphs
// become modules, or are refused.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exact_passes.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "module_runs.hpp"
#include "passes/extract/split_module.hpp"
#include "passes/link/link_modules.hpp"
#include "scoped_text.hpp"
#include "text/short_text.hpp"

using namespace mir;
using namespace mir::test;

namespace {

const std::vector<std::pair<std::string, std::int64_t>> kExtents = {{"S", 3}, {"T", 5}, {"N", 2},
                                                                    {"M", 4}, {"K", 1}, {"L", 6}};

/// The findings of verification, but for declarations of symbols that no extent has any more, and
/// for ranges that a run checks.
std::string serious_findings(const Module& module) {
  std::string text;
  std::istringstream lines(findings(module));
  for (std::string line; std::getline(lines, line);) {
    const bool is_minor = line.starts_with("no extent of the module has the declared symbol") ||
                          line.ends_with("which is checked at run time");
    if (!is_minor) text += line + "\n";
  }
  return text;
}

/// A generated module with what it gives. It verifies and runs.
std::optional<Sample> scoped_sample(const std::string& text) {
  Subject subject(text);
  CHECK(subject.problems() == "");
  REQUIRE(subject.is_read());
  CHECK(serious_findings(subject.module()) == "");
  return sample_of(text, kExtents);
}

/// Runs passes, after which the module verifies.
void run_passes(Module& module, std::string_view passes) {
  CAPTURE(passes);
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", std::string(passes), 1), problems);
  REQUIRE(pipeline);
  CHECK(run_pipeline(module, *pipeline, {.threads = 2}, problems));
  CHECK(text_of(problems) == "");
  CHECK(serious_findings(module) == "");
}

/// The printed module gives the same bits.
void check_runs(const Module& module, const Sample& of) {
  const std::string text = print(module);
  CAPTURE(text);
  Subject written(text);
  CHECK(written.problems() == "");
  REQUIRE(written.is_read());
  const Attempt again = run_graphs(written.module(), of.in_order);
  CHECK(again.refusal == "");
  CHECK(difference(of.outcome, again.outcome) == "");
}

/// False if the calls of a graph determine different numbers for what it takes from around them, or
/// for a relation.
bool bind_symbol(Module& module, const std::string& symbol, std::int64_t extent) {
  const std::string pass = fmt::format("bind-symbols{{{}={}}}", symbol, extent);
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", pass, 1), problems);
  const auto tried = clone(module);
  if (!run_pipeline(*tried, *pipeline, {}, problems)) {
    const std::string found = text_of(problems);
    for (const std::string_view cause :
         {"' has several values in '@", "different numbers for the relation"}) {
      if (found.find(cause) != std::string::npos) return false;
    }
  }
  run_passes(module, pass);
  return true;
}

/// The option that a random pass needs is drawn, too. Returns the pass as text.
std::string run_random_pass(Module& module, std::span<const Pass* const> passes,
                            std::mt19937_64& random) {
  const Pass& pass = *passes[random() % passes.size()];
  const std::string text = pass.name + option_for(pass.name, module, random).text();
  run_passes(module, text);
  return text;
}

/// The shapes of the outputs, in their order.
std::vector<Shape> shapes_of(const Outcome& outcome) {
  std::vector<Shape> shapes;
  for (const Tensor& each : outcome.tensors) shapes.push_back(each.shape());
  return shapes;
}

/// Graphs that are made modules in two ways give the same bits, or are refused in both.
void check_graphs_alone(const std::string& text) {
  Subject whole(text);
  IRContext& context = whole.context();
  for (const Op* graph : graphs_to_split(whole.module())) {
    const std::string name(context.text(graph->symbol()));
    CAPTURE(name);
    const std::vector<std::string> selectors = {name};
    Diagnostics of_split, of_pass;
    const auto parts = split_module(whole.module(), selectors, of_split);
    if (graph == whole.module().top()) continue;
    Subject extracted(text);
    PassRegistry registry;
    register_standard_passes(registry);
    const SourceFile option("-p", fmt::format("extract-graph{{graph={}}}", name), 1);
    const auto pipeline = registry.read_pipeline(option, of_pass);
    const bool is_made = run_pipeline(extracted.module(), *pipeline, {}, of_pass);
    CAPTURE(text_of(of_split));
    CAPTURE(text_of(of_pass));
    const bool takes = text_of(of_pass).find("' must bind '$") != std::string::npos;
    CHECK(is_made != takes);
    if (!is_made) {
      CHECK(!parts);
      continue;
    }
    CHECK(serious_findings(extracted.module()) == "");
    const bool has_blocks = graph->first_region()->has_several_blocks();
    CHECK(parts.has_value() != has_blocks);
    const auto found = sample_of(print(extracted.module()), kExtents);
    CHECK(found);
    if (!found || !parts) continue;
    CHECK(serious_findings(*parts->front()) == "");
    check_runs(*parts->front(), *found);
  }
}

/// The text with inferred types left out.
std::string shortened(const std::string& text) {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics problems;
  const SourceFile* file = context.sources().add("long.mir", text);
  const auto tree = parse(*file, problems);
  REQUIRE(tree);
  const auto made = short_text(*tree, context, problems);
  CHECK(text_of(problems) == "");
  return made.value_or("");
}

}  // namespace

TEST_SUITE("symbols of scopes") {
  TEST_CASE("random passes keep the bits") {
    PassRegistry registry;
    register_standard_passes(registry);
    const auto passes = exact_passes(registry);
    for (const std::uint64_t seed : seeds_of(400)) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      const auto found = scoped_sample(text);
      CHECK(found);
      if (!found) continue;
      std::mt19937_64 random(seed);
      Subject subject(text);
      std::string done;
      for (int i = 0; i < 3; ++i) {
        CAPTURE(done);
        done += run_random_pass(subject.module(), passes, random) + " ";
        check_runs(subject.module(), *found);
      }
    }
  }

  TEST_CASE("passes within a bound keep the shapes") {
    PassRegistry registry;
    register_standard_passes(registry);
    std::vector<const Pass*> passes;
    for (const std::string_view name : kBoundPasses) passes.push_back(registry.find(name));
    for (const std::uint64_t seed : seeds_of(200)) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      const auto found = scoped_sample(text);
      if (!found) continue;
      std::mt19937_64 random(seed);
      Subject subject(text);
      const std::string done = run_random_pass(subject.module(), passes, random);
      CAPTURE(done);
      Subject written(print(subject.module()));
      CHECK(written.problems() == "");
      REQUIRE(written.is_read());
      const Attempt again = run_graphs(written.module(), found->in_order);
      CHECK(again.refusal == "");
      CHECK(shapes_of(again.outcome) == shapes_of(found->outcome));
    }
  }

  TEST_CASE("graphs become modules, unless they take symbols from around their calls") {
    for (const std::uint64_t seed : seeds_of(400)) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      check_graphs_alone(text);
    }
  }

  TEST_CASE("short texts are the same modules") {
    for (const std::uint64_t seed : seeds_of(200)) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      const auto found = scoped_sample(text);
      if (!found) continue;
      const std::string brief = shortened(text);
      CAPTURE(brief);
      Subject subject(brief);
      CHECK(subject.problems() == "");
      REQUIRE(subject.is_read());
      CHECK(serious_findings(subject.module()) == "");
      check_runs(subject.module(), *found);
      Subject whole(text);
      CHECK(print(subject.module()) == print(whole.module()));
    }
  }

  TEST_CASE("numbers in place of symbols keep the bits") {
    std::size_t bound = 0, refused = 0;
    PassRegistry registry;
    register_standard_passes(registry);
    const auto passes = exact_passes(registry);
    for (const std::uint64_t seed : seeds_of(400)) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      const auto found = scoped_sample(text);
      if (!found) continue;
      std::mt19937_64 random(seed);
      Subject subject(text);
      std::string done;
      if (seed % 2 == 1) done = run_random_pass(subject.module(), passes, random);
      CAPTURE(done);
      for (const auto& [symbol, extent] : kExtents) {
        const auto inputs = symbols_of_inputs(subject.module());
        if (std::ranges::find(inputs, symbol) == inputs.end()) continue;
        const bool is_bound = bind_symbol(subject.module(), symbol, extent);
        ++(is_bound ? bound : refused);
        if (!is_bound) break;
        check_runs(subject.module(), *found);
      }
    }
    CHECK(refused < bound / 20 + 1);
  }

  TEST_CASE("linked modules give what each of them gives") {
    for (const std::uint64_t seed : seeds_of(400)) {
      CAPTURE(seed);
      const std::string first = scoped_text(2 * seed, "a"), second = scoped_text(2 * seed + 1, "b");
      CAPTURE(first);
      CAPTURE(second);
      const auto of_first = scoped_sample(first), of_second = scoped_sample(second);
      if (!of_first || !of_second) continue;
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics problems;
      const SourceFile* file = context.sources().add("both.mir", first + second);
      const auto modules = read_modules(*file, context, problems);
      REQUIRE(modules.size() == 2);
      const auto linked = link_modules(modules, NameCollision::kRename, problems);
      CHECK(text_of(problems) == "");
      REQUIRE(linked);
      CHECK(serious_findings(*linked) == "");
      check_runs(*linked, *of_first);
      run_passes(*linked, "extract-graph{graph=b}");
      check_runs(*linked, *of_second);
    }
  }
}
