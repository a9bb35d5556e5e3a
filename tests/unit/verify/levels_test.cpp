// Levels, policies, counts.
#include <algorithm>

#include "mir/codes/verification.hpp"
#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

const std::string kView =
    "@main () -> () {\nlinalg.CPU.ViewOp(%1:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[8], "
    "Float32, CPU>)\n}\n";
constexpr const char* kWarning =
    "2:56 MIR0470 warning result %1 takes over the storage id of an earlier value";
constexpr const char* kError =
    "2:56 MIR0470 result %1 takes over the storage id of an earlier value";

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
                   options) == Lines{"2:20 MIR0408 'linalg.SiLUOp' has no attribute 'x'"});
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
    CHECK(verified(call) == Lines{"2:19 MIR0411 no graph is named '@g'"});
    CHECK(verified(call, allow("calls")) == Lines{"2:19 MIR0411 warning no graph is named '@g'"});
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
          std::vector<DiagnosticCount>{{diag::kStorageReused, Severity::kWarning, 50}});
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
    CHECK(list[0].constraint == "dump_c1: docs/verification.md#what-dumps-lose");
  }
}

TEST_SUITE("what upstream itself prints") {
  struct Finding {
    const char* code;
    const char* constraint;
    std::string ops;
  };
  const std::string kShort = "tensor<[2, 4], Float32, CPU>";
  const std::string kSpec =
      "QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65536, quant_to_type: UInt16, scale_type: "
      "Float32, zero_point_type: Int32), uuid=1, solved=0)";

  std::vector<Finding> named_findings() {
    const std::string &t = kShort, quantised = "tensor<[2, 4], UInt16PerTensor, CPU>";
    return {
        {"MIR0470", "dump_c1", "linalg.CPU.ViewOp(%1:" + t + ") -> (%1:tensor<[8], Float32, CPU>)"},
        {"MIR0471", "dump_c2", "linalg.CPU.SliceOp(%1:" + t + ") -> (%1:" + t + ")"},
        {"MIR0471", "dump_c2", "linalg.CPU.SplitOp(%1:" + t + ") -> (%1:" + t + ", %2:" + t + ")"},
        {"MIR0472", "dump_c3",
         "linalg.CPU.MulOp(%1:" + t + ", %2:tensor<[1], Float32, CPU>) -> (%3:" + t + ")"},
        {"MIR0460", "quant_c2",
         "tensor.CPU.alloc () -> (%1:" + quantised + "[quant_recipe:" + kSpec + "])"},
        {"MIR0473", "type_c2",
         "linalg.CPU.AddOp(%1:" + quantised + ", %2:" + t + ") -> (%3:" + quantised + ")"},
        {"MIR0473", "type_c2",
         "linalg.CPU.AddOp(%1:" + quantised +
             ", %2:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%3:" + quantised + ")"},
        {"MIR0453", "free_c4",
         "prog.fragment @t <CPU> <table> {\nprog.value_symbol() -> (%7:" + t +
             "[@c][constant:[0.5]])[symbol:c]\n}\nprog.fragment @code <CPU> <code> "
             "{\nprog.free(%7:" +
             t + ") -> ()\nprog.exit() -> ()\n}"},
        {"MIR0475", "dump_c4",
         "linalg.CPU.SiLUOp(%1:" + t + ", %2:" + t + ", %3:" + t + ") -> (%4:" + t + ")"},
    };
  }

  TEST_CASE("is a finding at the dump level and an error at the portable one") {
    for (const Finding& each : named_findings()) {
      CAPTURE(each.ops);
      const std::string text = "@main () -> () {\n" + each.ops + "\n}\n";
      const auto counts = [&](const Lines& lines, const std::string& what) {
        return std::ranges::count_if(
            lines, [&](const std::string& line) { return line.find(what) != line.npos; });
      };
      const std::string code = each.code;
      const Lines dump = verified(text);
      CHECK(counts(dump, code + " warning") >= 1);
      CHECK(counts(dump, " warning ") == static_cast<std::ptrdiff_t>(dump.size()));
      VerifyOptions portable;
      portable.level = VerifyLevel::kPortable;
      const Lines found = verified(text, portable);
      CHECK(counts(found, code + " ") == counts(dump, code + " "));
      CHECK(counts(found, code + " warning") == 0);
      for (const char* what : {each.code, each.constraint}) {
        const Lines denied = verified(text, deny(what));
        CHECK(counts(denied, code + " warning") == 0);
        CHECK(counts(denied, code + " ") == counts(dump, code + " "));
      }
    }
  }

  TEST_CASE("is an error in a portable module, or what its grammar leaves no room for") {
    const std::string quantised = "tensor<[2, 4], UInt16PerTensor, CPU>";
    const auto found = [](const Lines& ops) { return checked(ops); };
    CHECK(found({"tensor.CPU.alloc () -> (%1:" + quantised + ")",
                 "linalg.CPU.AddOp(%1, %2:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%3:" +
                     quantised + ")"}) ==
          Lines{"3:1 MIR0473 operands 0 and 1 of 'linalg.AddOp' are UInt16PerTensor and Float32"});
    CHECK(
        found({"tensor.CPU.alloc () -> (%1:" + quantised + "[quant_recipe:" + kSpec + "])"}) ==
        Lines{
            "2:1 MIR0460 quantised range 0 to 65536 does not fit UInt16, which holds 0 to 65535"});
    const auto refused = [](const std::string& op) {
      return Reading(module_of({op, "cf.ReturnOp () -> ()"})).diagnostics.has_errors();
    };
    CHECK(refused("linalg.CPU.SiLUOp(%0) -> (%0:" + kShort + ")"));
    CHECK(refused("linalg.CPU.MulOp(%0, %2:tensor<[1], Float32, CPU>) -> (%3:" + kShort + ")"));
    CHECK_FALSE(refused("linalg.CPU.SiLUOp(%0) -> (%1:" + kShort + ")"));
  }
}

TEST_SUITE("calls") {
  TEST_CASE("call_c5: MIR0430 a graph that nothing calls") {
    const std::string call = "graph.CallGraphOp @g (%0) -> (%1:" + std::string(kType) + ")";
    CHECK(checked({graph("g"), graph("h"), call}) ==
          Lines{"7:1 MIR0430 warning no path of calls reaches graph '@h'"});
    const std::string init = "graph.SubGraphOp @init <CPU> {\n() -> () {\n}\n}";
    CHECK(checked({graph("g"), init, call}) == Lines{});
    CHECK(checked({graph("g"), graph("h")}) == Lines{});  // a library
  }
}
