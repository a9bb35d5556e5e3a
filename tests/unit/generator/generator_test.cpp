// The random modules that other tests start from are right, and of every kind.
#include <set>

#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "defects.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"

using namespace mir;
using mir::test::generate_module;
using mir::test::GeneratorOptions;
using mir::test::Reading;
using Form = mir::test::GeneratorOptions::Form;

namespace {

std::vector<std::string> findings(const std::string& text) {
  Reading reading(text);
  for (const Module* module : reading.modules) verify(*module, reading.diagnostics);
  return reading.errors();
}

}  // namespace

TEST_SUITE("module generator") {
  TEST_CASE("generated modules have nothing wrong with them") {
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (const std::uint64_t seed : test::seeds_of(300)) {
        const std::string text = generate_module({.seed = seed, .form = form});
        CAPTURE(seed);
        CAPTURE(text);
        REQUIRE(findings(text) == std::vector<std::string>{});
      }
    }
  }

  TEST_CASE("generated modules print as they are written") {
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (const std::uint64_t seed : test::seeds_of(200)) {
        const std::string text = generate_module({.seed = seed, .form = form});
        CAPTURE(seed);
        Reading reading(text);
        CHECK(print(reading.module()) == text);
      }
    }
  }

  TEST_CASE("generated control flow verifies and prints as it is written") {
    for (const std::uint64_t seed : test::seeds_of(240)) {
      const std::string text = generate_module({.seed = seed, .ops = 5, .control_flow = true});
      CAPTURE(seed);
      CAPTURE(text);
      REQUIRE(findings(text) == std::vector<std::string>{});
      Reading reading(text);
      CHECK(print(reading.module()) == text);
    }
  }

  TEST_CASE("equal seeds give equal modules, other seeds others") {
    const auto text = [](std::uint64_t seed) { return generate_module({.seed = seed}); };
    CHECK(text(7) == text(7));
    CHECK(text(7) != text(8));
  }

  TEST_CASE("every op that computes occurs, with symbols and with calls") {
    std::set<std::string_view> seen;
    bool symbols = false, calls = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const std::string text = generate_module({.seed = seed});
      symbols |= text.find("[$A") != text.npos;
      Reading reading(text);
      walk<OpView>(reading.module(), [&](OpView op) {
        if (op->row() != nullptr) seen.insert(op->row()->name);
        calls |= op->is(OpId::kGraphCallGraph);
      });
    }
    CHECK(symbols);
    CHECK(calls);
    for (const Dialect* dialect : builtin_dialects()) {
      if (dialect->name != "linalg") continue;
      for (const OpRow& row : dialect->rows) {
        if (row.infer == nullptr || has(row.traits, Trait::kDumpOnly)) continue;
        if (row.regions.max != 0) continue;
        CAPTURE(row.name);
        CHECK(seen.contains(row.name));
      }
    }
  }

  TEST_CASE("what upstream has no op for occurs in portable modules only, and only if wanted") {
    const auto has_own = [](const GeneratorOptions& options) {
      bool found = false;
      Reading reading(generate_module(options));
      walk<OpView>(reading.module(), [&](OpView op) { found |= op->has(Trait::kPortableOnly); });
      return found;
    };
    bool wanted = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      wanted |= has_own({.seed = seed});
      CHECK_FALSE(has_own({.seed = seed, .own_ops = false}));
      CHECK_FALSE(has_own({.seed = seed, .form = Form::kDump}));
    }
    CHECK(wanted);
  }

  TEST_CASE("every planted defect is found with its code on its line") {
    CHECK(mir::test::defects().size() >= 60);
    constexpr int kPlanted = test::kIsSanitized ? 1 : 5;
    std::set<std::string> names;
    for (const mir::test::Defect& defect : mir::test::defects()) {
      CAPTURE(defect.name);
      CHECK(names.insert(defect.name).second);
      int planted = 0;
      for (std::uint64_t seed = 0; seed < 60 && planted < kPlanted; ++seed) {
        const auto broken = mir::test::plant(defect, seed);
        if (!broken) continue;
        ++planted;
        CAPTURE(seed);
        CAPTURE(broken->line);
        const auto found = findings(broken->text);
        const std::string start = std::to_string(broken->line) + ":";
        const bool is_found = std::any_of(found.begin(), found.end(), [&](const std::string& each) {
          return each.starts_with(start) && each.find(spelling(defect.code)) != each.npos;
        });
        CAPTURE(found);
        CHECK(is_found);
      }
      CHECK(planted > 0);
    }
  }
}
