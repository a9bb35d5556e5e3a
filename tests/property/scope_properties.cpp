// Modules whose scopes have symbols of one name give the same bits after all passes that keep
// numbers, linked with others, and with numbers for their symbols.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exact_passes.hpp"
#include "mir/dialects.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "module_runs.hpp"
#include "passes/link/link_modules.hpp"
#include "scoped_text.hpp"

using namespace mir;
using namespace mir::test;

namespace {

const std::vector<std::pair<std::string, std::int64_t>> kExtents = {{"S", 3}, {"T", 5}, {"N", 2}};

/// The findings of verification, but for declarations of symbols that no extent has any more.
std::string serious_findings(const Module& module) {
  std::string text;
  std::istringstream lines(findings(module));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("no extent of the module has the declared symbol")) text += line + "\n";
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

/// True if a relation in the head would need several texts, because scopes have different numbers.
bool has_several_numbers(const Module& module, std::string_view passes) {
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", std::string(passes), 1), problems);
  REQUIRE(pipeline);
  return !run_pipeline(*clone(module), *pipeline, {.threads = 2}, problems) &&
         text_of(problems).find("different numbers for the relation") != std::string::npos;
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

}  // namespace

TEST_SUITE("symbols of scopes") {
  TEST_CASE("random passes keep the bits") {
    PassRegistry registry;
    register_standard_passes(registry);
    const auto passes = exact_passes(registry);
    for (std::uint64_t seed = 0; seed < seed_count(400); ++seed) {
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
        const Pass& pass = *passes[random() % passes.size()];
        const std::string next = pass.name + option_for(pass.name, subject.module(), random).text();
        done += next + " ";
        CAPTURE(done);
        run_passes(subject.module(), next);
        check_runs(subject.module(), *found);
      }
    }
  }

  TEST_CASE("numbers in place of symbols keep the bits") {
    std::size_t bound = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < seed_count(400); ++seed) {
      CAPTURE(seed);
      const std::string text = scoped_text(seed);
      CAPTURE(text);
      const auto found = scoped_sample(text);
      if (!found) continue;
      Subject subject(text);
      for (const auto& [symbol, extent] : kExtents) {
        const auto inputs = symbols_of_inputs(subject.module());
        if (std::ranges::find(inputs, symbol) == inputs.end()) continue;
        const std::string pass = fmt::format("bind-symbols{{{}={}}}", symbol, extent);
        const bool is_refused = has_several_numbers(subject.module(), pass);
        ++(is_refused ? refused : bound);
        if (is_refused) continue;
        run_passes(subject.module(), pass);
        check_runs(subject.module(), *found);
      }
    }
    CHECK(refused < bound / 20 + 1);
  }

  TEST_CASE("linked modules give what each of them gives") {
    for (std::uint64_t seed = 0; seed < seed_count(400); ++seed) {
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
