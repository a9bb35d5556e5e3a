// Reports breaches by verdict, with limits for each code.
#include "verify/report.hpp"

#include <algorithm>

#include "support/diagnostic_catalogue.hpp"

namespace mir::checks {

namespace {

VerifyLevel level_of(const Module& module, const VerifyOptions& options) {
  return options.level.value_or(module.is_portable() ? VerifyLevel::kPortable : VerifyLevel::kDump);
}

}  // namespace

std::string spelling_of(const Module& module, ValueName name) {
  return name.is_number() ? compiled(FMT_COMPILE("%{}"), name.number())
                          : compiled(FMT_COMPILE("%{}"), module.context().text(name.symbol()));
}

Reporter::Reporter(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options)
    : module_(module),
      diagnostics_(diagnostics),
      options_(options),
      level_(level_of(module, options)),
      wants_rules_(level_ == VerifyLevel::kPortable || options.report_findings),
      prover_(ExtentProver::of(module)) {
  places_.fill(kUnplaced);
  // A feature that portable modules cannot have is an error, in whatever form the module was read.
  const bool dump = level_ == VerifyLevel::kDump && !module.is_portable();
  const bool lost_only = level_ == VerifyLevel::kDump && module.is_portable();
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    const Constraint& constraint = constraints()[i];
    Verdict verdict = dump || (lost_only && constraint.group == CheckGroup::kDump)
                          ? constraint.in_dump
                          : constraint.in_portable;
    verdict = options.policy.apply(constraint, verdict);
    if (verdict == Verdict::kFinding && !options.report_findings) verdict = Verdict::kOff;
    verdicts_[i] = verdict;
  }
}

Reporter::~Reporter() {
  const std::size_t limit = options_.findings_per_code;
  for (const auto& [code, count] : findings_) {
    if (limit != 0 && count > limit) diagnostics_.skip(Severity::kWarning, code, count - limit);
  }
}

/// Several constraints may share a code.
std::uint8_t Reporter::place_of(DiagCode code) {
  const auto found = std::ranges::find(findings_, code, &Findings::code);
  const auto place = found - findings_.begin();
  if (found == findings_.end()) findings_.push_back({code});
  return static_cast<std::uint8_t>(place);
}

bool Reporter::keep_error(DiagCode code) {
  if (!diagnostics_.is_full()) return true;
  diagnostics_.skip(Severity::kError, code);
  return false;
}

Diagnostic* Reporter::add(const Constraint& constraint, Verdict verdict, const Op& op,
                          std::string message) {
  Diagnostic& added = verdict == Verdict::kError
                          ? diagnostics_.error(constraint.code, op.span(), std::move(message))
                          : diagnostics_.warning(constraint.code, op.span(), std::move(message));
  added.constraint = cite_constraint(constraint.id);
  return &added;
}

Verdict Reporter::rule_verdict(DiagCode code) const {
  const Constraint constraint{
      .code = code, .group = CheckGroup::kShapes, .in_dump = Verdict::kFinding};
  const bool dump = level_ == VerifyLevel::kDump && !module_.is_portable();
  const Verdict verdict =
      options_.policy.apply(constraint, dump ? constraint.in_dump : constraint.in_portable);
  return verdict == Verdict::kFinding && !options_.report_findings ? Verdict::kOff : verdict;
}

void Reporter::report_rule(const Op& op, Diagnostic&& breach) {
  const Verdict verdict = rule_verdict(breach.code);
  breaches_ += verdict != Verdict::kOff;
  std::uint8_t place = kUnplaced;
  if (!keep(breach.code, verdict, place)) return;
  const Span at = breach.at.known() ? breach.at : op.span();
  Diagnostic& added = verdict == Verdict::kError ? diagnostics_.error(breach.code, at, {})
                                                 : diagnostics_.warning(breach.code, at, {});
  added.message = std::move(breach.message);
  added.notes = std::move(breach.notes);
  added.constraint = std::move(breach.constraint);
}

}  // namespace mir::checks
