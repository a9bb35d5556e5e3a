// Facts that are granted and that nothing needs.
#include <fmt/format.h>

#include <algorithm>

#include "upgraded.hpp"

namespace mir::test::unused_facts {

namespace {

const std::string kNorm =
    "linalg.CPU.RMSNormOp <name=\"n\"> (%1:" + t("2, 4") + ") -> (%2:" + t("2, 4") + ")";
const std::string kStated = "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-05] (%1:" + t("2, 4") +
                            ") -> (%2:" + t("2, 4") + ")";

/// What is reported of the dump with these facts granted.
Lines reported(const std::string& op, const UpgradeOptions& options) {
  return Upgraded(dump({op}), options).errors();
}

}  // namespace

TEST_CASE("a fact about all ops of a kind is named where none of them lacked it") {
  UpgradeOptions options;
  REQUIRE(grant(options, "rms_eps=1e-6"));
  CHECK(reported(kNorm, options) == Lines{});
  const Lines unused = {"1:1 MIR0701 warning 'rms_eps' is supplied, but no operation lost it"};
  CHECK(reported(kStated, options) == unused);
  REQUIRE(grant(options, "RMSNorm.epsilon=1e-5"));
  CHECK(reported(kNorm, options) == unused);
  UpgradeOptions others;
  REQUIRE(grant(others, "rms_eps=1e-6"));
  REQUIRE(grant(others, "layer_norm_eps=1e-6"));
  REQUIRE(grant(others, "packed_weights=MIR_Q4_A32"));
  CHECK(reported(kNorm, others) ==
        Lines{"1:1 MIR0701 warning 'layer_norm_eps' is supplied, but no operation lost it",
              "1:1 MIR0701 warning 'packed_weights' is supplied, but no operation lost it"});
}

TEST_CASE("every fact about a portable module is named") {
  UpgradeOptions options;
  for (const char* fact : {"rms_eps=1e-6", "layer_norm_eps=1e-6", "packed_weights=GGUF_Q4_0",
                           "Clip.min_val=0.0", "%3=tensor<[2], Float32, CPU>"}) {
    REQUIRE(grant(options, fact));
  }
  options.symbolic_dims.push_back({.symbol = "S", .input = 0, .dim = 1});
  Reading reading("@main [mir_version:1] () -> () {\ncf.ReturnOp () -> ()\n}\n");
  LossReport report;
  Diagnostics found(0);
  CHECK(upgrade(*reading.modules.front(), options, report, found));
  const Lines lines = lines_of(found, reading.context);
  CHECK(lines.size() == 6);
  for (const char* name :
       {"rms_eps", "layer_norm_eps", "packed_weights", "Clip.min_val", "3.type", "S@input0:1"}) {
    const std::string line = fmt::format(
        "1:1 MIR0701 warning '{}' is supplied, but a portable module lost nothing", name);
    CAPTURE(line);
    CHECK(std::ranges::count(lines, line) == 1);
  }
}

}  // namespace mir::test::unused_facts
