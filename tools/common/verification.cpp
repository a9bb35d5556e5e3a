#include "verification.hpp"

#include <fmt/format.h>

namespace mir::tools {

Result<VerifyOptions> verify_options(const Run& run) {
  VerifyOptions options;
  options.findings_per_code = run.max_errors();
  const std::string_view level = run.arguments().value("level");
  if (level == "dump") options.level = VerifyLevel::kDump;
  if (level == "portable") options.level = VerifyLevel::kPortable;
  const auto unknown = [](std::string_view option, std::string_view what) {
    return Error{DiagCode::kUsage,
                 fmt::format("--{} takes a code like MIR0470, a constraint like dump_c1 or one of "
                             "{}; found '{}'",
                             option, fmt::join(check_group_names(), ", "), what)};
  };
  for (const std::string& what : run.arguments().values("allow")) {
    if (!options.policy.allow(what)) return unknown("allow", what);
  }
  for (const std::string& what : run.arguments().values("deny")) {
    if (!options.policy.deny(what)) return unknown("deny", what);
  }
  return options;
}

}  // namespace mir::tools
