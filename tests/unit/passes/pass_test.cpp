#include "mir/pass.hpp"

#include <algorithm>

#include "../ir/read.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"

using namespace mir;
using mir::test::lines_of;
using mir::test::Reading;

namespace pass_test {

namespace {

using Lines = std::vector<std::string>;

/// What a tool registers.
struct AllPasses {
  Conversions conversions;
  PassRegistry registry;
  AllPasses() {
    register_eliminations(registry);
    register_conversions(registry, conversions);
  }
};

/// The module after the passes; what went wrong instead.
std::string after(const std::string& text, std::string_view pipeline) {
  Reading reading(text);
  REQUIRE(reading.errors() == Lines{});
  Diagnostics diagnostics;
  const AllPasses all;
  const auto passes = all.registry.parse_pipeline(pipeline);
  REQUIRE(passes);
  if (run_passes(reading.module(), *passes, diagnostics)) return print(reading.module());
  return lines_of(diagnostics, reading.context).front();
}

}  // namespace

TEST_SUITE("passes") {
  TEST_CASE("passes are in order of their names, which are unique") {
    const AllPasses all;
    const auto passes = all.registry.passes();
    CHECK(std::ranges::is_sorted(passes, {}, &Pass::name));
    CHECK(std::ranges::adjacent_find(passes, {}, &Pass::name) == passes.end());
  }

  TEST_CASE("a pipeline keeps its order and names the pass that does not exist") {
    const AllPasses all;
    const PassRegistry& registry = all.registry;
    const auto two = registry.parse_pipeline("upgrade,eliminate-debug");
    REQUIRE(two);
    REQUIRE(two->size() == 2);
    CHECK((*two)[0]->name == "upgrade");
    CHECK((*two)[1]->name == "eliminate-debug");
    CHECK(registry.parse_pipeline("")->empty());
    CHECK(registry.parse_pipeline("upgrade,no").error().message == "no pass is called 'no'");
  }

  TEST_CASE("a run stops where the caller says so") {
    Reading reading("@main () -> () {\n// a\n}\n");
    Diagnostics diagnostics;
    const AllPasses all;
    const auto passes = all.registry.parse_pipeline("eliminate-debug,upgrade");
    CHECK(!run_passes(reading.module(), *passes, diagnostics,
                      [](const Pass& pass, const Module&, double) {
                        CHECK(pass.name == "eliminate-debug");
                        return false;
                      }));
    CHECK(!reading.module().is_portable());
  }

  TEST_CASE("a pass refuses a form that it does not take") {
    const std::string portable = "@main [mir_version:1] () -> () {\n    cf.ReturnOp () -> ()\n}\n";
    CHECK(after(portable, "lift-program") ==
          "1:1 MIR0317 pass 'lift-program' takes modules in dump form");
    CHECK(after("@main () -> () {\n}\n", "eliminate-dead-ops") ==
          "1:1 MIR0317 pass 'eliminate-dead-ops' takes modules in portable form");
    CHECK(after(portable, "eliminate-dead-ops") == portable);
  }
}

}  // namespace pass_test
