// Verification of modules whose text has errors.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mir/codes/names.hpp"
#include "mir/codes/verification.hpp"
#include "mir/verify.hpp"
#include "verify/doubts.hpp"

namespace mir {

namespace {

/// Results whose types are not known because their op is wrong.
void withdraw_follow_on(const OpsInOrder& ops, std::span<const Diagnostic> found,
                        Diagnostics& diagnostics) {
  std::set<const Op*> causes;
  for (const Diagnostic& each : found) {
    if (concerns_op_alone(each.code) && each.severity == Severity::kError) {
      causes.insert(ops.at(each.at.begin));
    }
  }
  causes.erase(nullptr);
  if (causes.empty()) return;
  diagnostics.withdraw([&](const Diagnostic& each) {
    return each.code == diag::kTypeMissing && causes.contains(ops.at(each.at.begin));
  });
}

/// Adds findings, up to a limit for each code of a module, and counts those above it.
class LimitedReport {
 public:
  LimitedReport(Diagnostics& diagnostics, const OpsInOrder& ops, std::size_t limit)
      : diagnostics_(diagnostics), ops_(ops), limit_(limit) {
    for (const Diagnostic& each : diagnostics.sorted()) said_.emplace(each.code, each.at.begin);
  }

  void add(const Diagnostic& each) {
    if (said_.contains({each.code, each.at.begin})) return;
    if (each.severity == Severity::kError) {
      diagnostics_.error(each.code, each.at, {}) = each;
      return;
    }
    const Op* const op = ops_.at(each.at.begin);
    const auto key = std::pair(op == nullptr ? nullptr : &op->module(), each.code);
    if (limit_ != 0 && ++counts_[key] > limit_) {
      diagnostics_.skip(each.severity, each.code);
    } else {
      diagnostics_.warning(each.code, each.at, {}) = each;
    }
  }

 private:
  Diagnostics& diagnostics_;
  const OpsInOrder& ops_;
  std::size_t limit_;
  std::set<std::pair<DiagCode, SourcePos>> said_;
  std::map<std::pair<const Module*, DiagCode>, std::size_t> counts_;
};

}  // namespace

void verify_unsound(std::span<Module* const> all, Diagnostics& diagnostics,
                    const VerifyOptions& options, std::span<const Diagnostic> earlier) {
  const std::vector<Diagnostic> known = diagnostics.sorted();
  // What another version of the language means is not for this one to judge.
  std::vector<Module*> modules;
  std::ranges::copy_if(all, std::back_inserter(modules), [&](const Module* module) {
    return std::ranges::none_of(known, [&](const Diagnostic& each) {
      return each.code == diag::kUnsupportedVersion && each.at.begin == module->top()->span().begin;
    });
  });
  VerifyOptions unlimited = options;
  unlimited.findings_per_code = 0;
  Diagnostics found(kMostUnsoundErrors);
  for (const Module* module : modules) verify(*module, found, unlimited);
  const OpsInOrder ops(modules);
  const std::vector<Diagnostic> breaches = std::move(found).sorted();
  withdraw_follow_on(ops, breaches, diagnostics);
  std::vector<Diagnostic> causes = known;
  std::ranges::copy_if(breaches, std::back_inserter(causes), [](const Diagnostic& each) {
    return concerns_op_alone(each.code) && each.severity == Severity::kError;
  });
  const Doubts doubts(modules, ops, causes);
  diagnostics.withdraw([&](const Diagnostic& each) { return doubts.explain(each); });
  LimitedReport report(diagnostics, ops, options.findings_per_code);
  for (const Diagnostic& each : breaches) {
    if (doubts.decide(each)) report.add(each);
  }
  for (const Diagnostic& each : earlier) {
    if (each.code >= kFirstOfResolve && !doubts.decide(each)) report.add(each);
  }
}

}  // namespace mir
