// Levels, policies, counts.
#include <algorithm>

#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

const std::string kView =
    "@main () -> () {\nlinalg.CPU.ViewOp(%1:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[8], "
    "Float32, CPU>)\n}\n";
constexpr const char* kWarning =
    "2:1 MIR0470 warning result %1 takes over the storage id of an earlier value";
constexpr const char* kError =
    "2:1 MIR0470 result %1 takes over the storage id of an earlier value";

VerifyOptions deny(std::string_view what) {
  VerifyOptions options;
  CHECK(options.policy.deny(what));
  return options;
}
VerifyOptions allow(std::string_view what) {
  VerifyOptions options;
  CHECK(options.policy.allow(what));
  return options;
}

}  // namespace

TEST_SUITE("levels") {
  TEST_CASE("what is a finding in a dump is an error at the portable level") {
    VerifyOptions options;
    CHECK(verified(kView, options) == Lines{kWarning});
    options.level = VerifyLevel::kDump;
    CHECK(verified(kView, options) == Lines{kWarning});
    options.level = VerifyLevel::kPortable;
    const Lines found = verified(kView, options);
    CHECK(std::ranges::find(found, kError) != found.end());
  }

  TEST_CASE("a portable module stays portable at the dump level") {
    VerifyOptions options;
    options.level = VerifyLevel::kDump;
    CHECK(verified(module_of({"linalg.CPU.SiLUOp [x:1] (%0) -> (%1)", "cf.ReturnOp () -> ()"}),
                   options) == Lines{"2:1 MIR0408 'linalg.SiLUOp' has no attribute 'x'"});
  }

  TEST_CASE("deny makes findings errors, by code, constraint and group") {
    for (const char* what : {"MIR0470", "dump_c1", "dump"}) {
      CAPTURE(what);
      CHECK(verified(kView, deny(what)) == Lines{kError});
    }
    CHECK(verified(kView, deny("MIR0471")) == Lines{kWarning});
  }

  TEST_CASE("allow makes errors findings and leaves findings out") {
    CHECK(verified(kView, allow("dump")) == Lines{});
    const std::string call = "@main () -> () {\ngraph.CallGraphOp @g () -> ()\n}\n";
    CHECK(verified(call) == Lines{"2:1 MIR0411 no graph is named '@g'"});
    CHECK(verified(call, allow("calls")) == Lines{"2:1 MIR0411 warning no graph is named '@g'"});
  }

  TEST_CASE("what was said last wins, and unknown words are refused") {
    VerifyOptions options = allow("dump");
    CHECK(options.policy.deny("MIR0470"));
    CHECK(verified(kView, options) == Lines{kError});
    CHECK_FALSE(options.policy.deny("MIR9999"));
    CHECK_FALSE(options.policy.allow("no-such-group"));
    CHECK(options.policy.allow("MIR0500"));
  }

  TEST_CASE("rules have the group shapes") {
    const std::string add =
        "@main () -> () {\nlinalg.CPU.AddOp(%1:tensor<[2], Float32, CPU>, %2:tensor<[3], Float32, "
        "CPU>) -> (%3:tensor<[3], Float32, CPU>)\n}\n";
    CHECK(verified(add) == Lines{"2:1 MIR0500 warning 'AddOp' takes operands whose extents are "
                                 "equal or 1, found [2] and [3]"});
    CHECK(verified(add, deny("shapes")) ==
          Lines{"2:1 MIR0500 'AddOp' takes operands whose extents are equal or 1, found [2] and "
                "[3]"});
    CHECK(verified(add, allow("MIR0500")) == Lines{});
  }

  TEST_CASE("findings beyond the limit are counted, not kept") {
    std::string text = "@main () -> () {\n";
    for (int i = 0; i < 50; ++i) {
      text += "linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n";
    }
    Reading reading(text + "}\n");
    Diagnostics diagnostics;
    VerifyOptions options;
    options.findings_per_code = 3;
    CHECK(verify(reading.module(), diagnostics, options));
    CHECK(diagnostics.sorted().size() == 3);
    CHECK(diagnostics.warning_count() == 50);
    CHECK(diagnostics.dropped_warning_count() == 47);
    CHECK(diagnostics.counts() ==
          std::vector<DiagnosticCount>{{DiagCode::kStorageReused, Severity::kWarning, 50}});
  }

  TEST_CASE("without findings only errors are looked for") {
    VerifyOptions options;
    options.report_findings = false;
    CHECK(verified(kView, options) == Lines{});
  }

  TEST_CASE("a diagnostic names its constraint") {
    Reading reading(kView);
    Diagnostics diagnostics;
    verify(reading.module(), diagnostics);
    const auto list = diagnostics.sorted();
    REQUIRE(list.size() == 1);
    CHECK(list[0].constraint == "dump_c1, docs/verification.md");
  }
}

TEST_SUITE("calls") {
  TEST_CASE("call_c5: MIR0430 a graph that nothing calls") {
    const std::string call = "graph.CallGraphOp @g (%0) -> (%1:" + std::string(kType) + ")";
    CHECK(checked({graph("g"), graph("h"), call}) ==
          Lines{"7:1 MIR0430 warning no path of calls reaches graph '@h'"});
    CHECK(checked({graph("g"), graph("init"), call}) == Lines{});
    CHECK(checked({graph("g"), graph("h")}) == Lines{});  // a library
  }
}
