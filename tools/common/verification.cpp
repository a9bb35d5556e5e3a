#include "verification.hpp"

#include <fmt/format.h>

#include "verify/constraint.hpp"

namespace mir::tools {

namespace {

/// "--deny takes .., found .."
Error unknown(std::string_view option, std::string_view what) {
  std::vector<std::string_view> known(check_group_names().begin(), check_group_names().end());
  for (const Constraint& constraint : constraints()) known.push_back(constraint.id);
  return {
      DiagCode::kUsage,
      fmt::format("--{} takes a code like MIR0470, a constraint like dump_c1 or one of {}; "
                  "found '{}'{}",
                  option, fmt::join(check_group_names(), ", "), what, did_you_mean(what, known))};
}

}  // namespace

Result<Verification> Verification::create(const Run& run,
                                          std::span<const std::string_view> allowed) {
  Verification verification;
  verification.is_off_ = run.arguments().has("no-verify");
  VerifyOptions& options = verification.options_;
  options.findings_per_code = run.max_errors();
  const std::string_view level = run.arguments().value("level");
  if (level == "dump") options.level = VerifyLevel::kDump;
  if (level == "portable") options.level = VerifyLevel::kPortable;
  for (const std::string_view what : allowed) {
    if (!options.policy.allow(what)) return unknown("allow", what);
    options.report_findings = false;
  }
  for (const std::string& what : run.arguments().values("allow")) {
    if (!options.policy.allow(what)) return unknown("allow", what);
  }
  for (const std::string& what : run.arguments().values("deny")) {
    if (!options.policy.deny(what)) return unknown("deny", what);
  }
  return verification;
}

}  // namespace mir::tools
