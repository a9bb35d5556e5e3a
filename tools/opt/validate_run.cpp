// Validates that a pipeline keeps results, and finds the pass and rewrite that change them.
#include "tools/opt/validate_run.hpp"

#include <fmt/format.h>

#include "ir/declares_dialect.hpp"
#include "mir/codes/passes.hpp"
#include "mir/rewriter.hpp"
#include "mir/validate.hpp"
#include "reduce/bisect.hpp"
#include "reduce/interests.hpp"
#include "standard_error.hpp"
#include "tools/opt/counterexample.hpp"
#include "tools/opt/watch_passes.hpp"

namespace mir::tools {

namespace {

/// Finds the pass and the rewrite that first change results.
Result<reduce::Culprit> find_culprit(const Module& before, const Pipeline& pipeline,
                                     const reduce::Comparison& how, const TypedMap* facts) {
  return reduce::bisect(
      before, pipeline,
      [&](const Module& first, const Module& second) -> Result<bool> {
        return reduce::compare(first, second, how).is_interesting;
      },
      facts);
}

/// Replaces the counterexample of all passes by that of the wrong one, if this alone differs.
void narrow(Counterexample& found, const reduce::Culprit& culprit, const reduce::Comparison& how) {
  if (culprit.before == nullptr || culprit.after == nullptr) return;
  ChangeVerdict alone = validate_change(*culprit.before, *culprit.after, how.validation, how.bound);
  if (alone.kind == PatternVerdict::Kind::kRefuted) found = *std::move(alone.counterexample);
}

/// Writes a counterexample if an option requests it.
void save(const Counterexample& found, std::string_view name, const OptSettings& settings,
          Diagnostics& diagnostics) {
  if (!settings.counterexamples.is_given()) return;
  auto written = make_folder(*settings.counterexamples);
  if (written) {
    written = write_counterexample(*settings.counterexamples, name, found.difference, found,
                                   fmt::format("random:{}", *settings.seed));
  }
  if (!written) diagnostics.error(written.error().code, {}, written.error().message);
}

std::string text_of(const RewriteValidation::Report& report) {
  std::string text = fmt::format("rewrites: {} made, {} different ones tried in {} runs",
                                 report.rewrites, report.different, report.runs);
  if (report.untried == 0) return text;
  return text + fmt::format(", {} not tried: {}", report.untried, report.reason);
}

std::string text_of_stops(const ChangeVerdict& verdict) {
  std::string text;
  if (verdict.stopped != 0) text += fmt::format(", {} stop before and after", verdict.stopped);
  if (verdict.stopped_once != 0) text += fmt::format(", {} stop only before", verdict.stopped_once);
  return text;
}

}  // namespace

bool run_validated(Module& module, const Pipeline& pipeline, PipelineRun how,
                   const OptSettings& settings, Diagnostics& diagnostics) {
  if (!settings.validate.is_given()) return run_pipeline(module, pipeline, how, diagnostics);
  const Span place = module.top()->span();
  const std::string_view name = module.context().text(module.name());
  const auto refuse = [&](DiagCode code, std::string message) {
    diagnostics.error(code, place, fmt::format("module '@{}': {}", name, message));
    return false;
  };
  if (has_only_declarations(module)) {
    write_error_text(fmt::format("module '@{}': only declarations, nothing to run\n", name));
    return run_pipeline(module, pipeline, how, diagnostics);
  }
  const std::unique_ptr<Module> before = clone(module);
  RewriteWatch counter;
  if (how.rewrites == nullptr) how.rewrites = &counter;
  RewriteValidation rewrites(*before, {.count = *settings.validate, .seed = *settings.seed});
  if (before->is_portable()) rewrites.watch(*how.rewrites);
  const bool is_good = run_pipeline(module, pipeline, how, diagnostics);
  how.rewrites->before = nullptr;
  how.rewrites->after = nullptr;
  if (!is_good) return false;
  if (!before->is_portable() || !module.is_portable()) {
    return refuse(diag::kNotValidated, "only portable modules can be compared by running them");
  }
  const RewriteValidation::Report& tried = rewrites.report();
  write_error_text(fmt::format("module '@{}': {}\n", name, text_of(tried)));
  if (tried.refuted) {
    save(tried.refuted->counterexample, tried.refuted->pattern, settings, diagnostics);
    diagnostics.error(diag::kClaimRefuted, tried.refuted->at,
                      fmt::format("rewrite {}, by pattern '{}', does not keep what the pattern "
                                  "claims: {}",
                                  tried.refuted->number, tried.refuted->pattern,
                                  tried.refuted->counterexample.difference));
    return false;
  }
  const reduce::Comparison comparison{
      .validation = {.count = *settings.validate, .seed = *settings.seed},
      .bound = settings.bound.if_given()};
  const ChangeVerdict verdict =
      validate_change(*before, module, comparison.validation, comparison.bound);
  switch (verdict.kind) {
    case PatternVerdict::Kind::kUndecided:
      return refuse(diag::kNotValidated, verdict.reason);
    case PatternVerdict::Kind::kKept:
      write_error_text(fmt::format("module '@{}': {} runs with {} elements give equal results{}\n",
                                   name, verdict.runs, verdict.elements, text_of_stops(verdict)));
      return true;
    case PatternVerdict::Kind::kRefuted:
      break;
  }
  Counterexample found = *verdict.counterexample;
  const std::string difference = found.difference;
  const auto culprit = find_culprit(*before, pipeline, comparison, how.facts);
  if (culprit) narrow(found, *culprit, comparison);
  save(found, name, settings, diagnostics);
  return refuse(diag::kClaimRefuted,
                fmt::format("the passes change results: {}; {}", difference,
                            culprit ? "first by " + spelling(*culprit) : culprit.error().message));
}

}  // namespace mir::tools
