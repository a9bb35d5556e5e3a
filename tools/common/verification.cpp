// Builds verification options from a tool's command line.
#include "verification.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <set>

#include "mir/codes/usage.hpp"
#include "verify/constraint.hpp"

namespace mir::tools {

namespace {

Completion complete_checks() {
  Completion offered;
  for (const std::string_view group : check_group_names()) offered.words.emplace_back(group);
  std::set<std::string> codes;
  for (const Constraint& constraint : constraints()) {
    offered.words.emplace_back(constraint.id);
    codes.insert(spelling(constraint.code));
  }
  offered.words.insert(offered.words.end(), codes.begin(), codes.end());
  return offered;
}

}  // namespace

Argument<std::string> check_selector() {
  auto argument = any_text(kRefersToNothing, complete_checks);
  argument.read = [](std::string_view option, std::string_view text) -> Result<std::string> {
    CheckPolicy policy;
    if (policy.deny(text)) return std::string(text);
    std::vector<std::string_view> known(check_group_names().begin(), check_group_names().end());
    for (const Constraint& constraint : constraints()) known.push_back(constraint.id);
    return Error{
        diag::kUsage,
        fmt::format("--{} takes a code like MIR0470, a constraint like dump_c1 or one of "
                    "{}; found '{}'{}",
                    option, fmt::join(check_group_names(), ", "), text, did_you_mean(text, known))};
  };
  return argument;
}

Verification::Verification(const VerificationSettings& settings, const Run& run,
                           std::span<const std::string_view> allowed)
    : is_off_(settings.no_verify) {
  options_.findings_per_code = run.max_findings();
  options_.level = settings.level.if_given();
  options_.report_findings = allowed.empty();
  // The rows of the options refuse other selectors.
  [[maybe_unused]] bool known = true;
  for (const std::string_view what : allowed) known &= options_.policy.allow(what);
  for (const std::string& what : *settings.allow) known &= options_.policy.allow(what);
  for (const std::string& what : *settings.deny) known &= options_.policy.deny(what);
  assert(known);
}

}  // namespace mir::tools
