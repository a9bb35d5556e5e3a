#include "mir/verify.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "mir/walk.hpp"
#include "verify/checks.hpp"
#include "verify/dump.hpp"
#include "verify/form.hpp"
#include "verify/op_checks.hpp"
#include "verify/quantisation.hpp"
#include "verify/ssa.hpp"
#include "verify/walk.hpp"

namespace mir {

bool verify(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options) {
  const std::size_t errors_before = diagnostics.error_count();
  checks::Reporter reporter(module, diagnostics, options);
  checks::Census census(module);
  checks::OpChecks ops(reporter);
  checks::UseChecks uses(reporter);
  checks::Quantisation quantisation(reporter);
  checks::FormChecks form(reporter);
  checks::DumpFindings dump(reporter);
  checks::walk(module.body(), census, ops, uses, quantisation, form, dump);
  checks::signatures(census, reporter);
  checks::blocks(census, reporter);
  checks::symbols(census, reporter);
  checks::bound_symbols(census, reporter);
  checks::calls(census, reporter);
  checks::caches(census, reporter);
  checks::program(census, reporter);
  checks::lifetime(census, reporter);
  checks::patterns(census, reporter);
  checks::versions(reporter);
  return diagnostics.error_count() == errors_before;
}

namespace {

bool concerns_op_alone(DiagCode code) {
  constexpr DiagCode kCodes[] = {DiagCode::kUnknownOp, DiagCode::kWrongArity,
                                 DiagCode::kUnknownAttribute, DiagCode::kUnknownCallee,
                                 DiagCode::kAttributeKind};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

/// Where ops begin in the text, in order.
std::vector<SourcePos> starts_of(std::span<Module* const> modules) {
  std::vector<SourcePos> starts;
  for (const Module* module : modules) {
    for_each_op(module->body(), [&](const Op& op) { starts.push_back(op.span().begin); });
  }
  std::ranges::sort(starts);
  return starts;
}

/// Results whose types are not known because their op is wrong.
void withdraw_follow_on(std::span<Module* const> modules, std::span<const Diagnostic> found,
                        Diagnostics& diagnostics) {
  std::vector<SourcePos> causes;
  for (const Diagnostic& each : found) {
    if (concerns_op_alone(each.code)) causes.push_back(each.at.begin);
  }
  if (causes.empty()) return;
  const std::vector<SourcePos> starts = starts_of(modules);
  diagnostics.withdraw([&](const Diagnostic& each) {
    if (each.code != DiagCode::kTypeMissing) return false;
    const auto next = std::ranges::upper_bound(starts, each.at.begin);
    return next != starts.begin() && std::ranges::binary_search(causes, *std::prev(next));
  });
}

}  // namespace

void verify_unsound(std::span<Module* const> modules, Diagnostics& diagnostics,
                    const VerifyOptions& options) {
  VerifyOptions errors_only = options;
  errors_only.report_findings = false;
  constexpr std::size_t kMost = 1000;
  Diagnostics found(kMost);
  for (const Module* module : modules) verify(*module, found, errors_only);
  const std::vector<Diagnostic> known = diagnostics.sorted();
  // What another version of the language means is not for this one to judge.
  const auto of_version = [](const Diagnostic& each) {
    return each.code == DiagCode::kUnsupportedVersion;
  };
  if (std::ranges::any_of(known, of_version)) return;
  std::vector<Diagnostic> breaches = found.sorted();
  withdraw_follow_on(modules, breaches, diagnostics);
  std::set<std::pair<DiagCode, SourcePos>> said;
  for (const Diagnostic& each : known) said.emplace(each.code, each.at.begin);
  for (Diagnostic& each : breaches) {
    if (said.contains({each.code, each.at.begin}) || !concerns_op_alone(each.code)) continue;
    diagnostics.error(each.code, each.at, {}) = std::move(each);
  }
}

}  // namespace mir
