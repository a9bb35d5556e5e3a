#include "tools/opt/validate_run.hpp"

#include <fmt/format.h>

#include "mir/rewriter.hpp"
#include "mir/validate.hpp"
#include "standard_error.hpp"
#include "tools/opt/counterexample.hpp"
#include "tools/opt/watch_passes.hpp"

namespace mir::tools {

namespace {

/// The runs of one module.
class RunValidation {
 public:
  RunValidation(const Module& before, const Pipeline& pipeline, const OptSettings& settings)
      : before_(before), pipeline_(pipeline), settings_(settings) {}

  ChangeVerdict compare(const Module& after) const {
    return validate_change(before_, after, {.count = *settings_.validate, .seed = *settings_.seed},
                           settings_.bound.if_given());
  }

  /// The first of `count` rewrites after which the results differ, by bisection.
  std::string first_wrong_rewrite(std::uint64_t count) const {
    if (differs_after(0)) return "no rewrite by a pattern is needed for it";
    std::uint64_t equal = 0, different = count;
    while (different - equal > 1) {
      const std::uint64_t middle = equal + (different - equal) / 2;
      (differs_after(middle) ? different : equal) = middle;
    }
    std::string text;
    RewriteWatch watch{.limit = different};
    watch.trace = [&](std::uint64_t number, std::string_view pattern, std::string_view root) {
      text =
          fmt::format("rewrite {} is the first to change them: '{}' of {}", number, pattern, root);
    };
    run_limited(watch);
    return text;
  }

 private:
  bool differs_after(std::uint64_t limit) const {
    RewriteWatch watch{.limit = limit};
    const auto after = run_limited(watch);
    return after != nullptr && compare(*after).kind == PatternVerdict::Kind::kRefuted;
  }

  std::unique_ptr<Module> run_limited(RewriteWatch& watch) const {
    auto copy = clone(before_);
    Diagnostics ignored;
    const bool is_good = run_pipeline(*copy, pipeline_, PipelineRun{.rewrites = &watch}, ignored);
    if (!is_good) copy.reset();
    return copy;
  }

  const Module& before_;
  const Pipeline& pipeline_;
  const OptSettings& settings_;
};

/// Writes a counterexample where it is asked for.
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
    return refuse(DiagCode::kNotValidated, "only portable modules can be compared by running them");
  }
  const RewriteValidation::Report& tried = rewrites.report();
  write_error_text(fmt::format("module '@{}': {}\n", name, text_of(tried)));
  if (tried.refuted) {
    save(tried.refuted->counterexample, tried.refuted->pattern, settings, diagnostics);
    diagnostics.error(DiagCode::kClaimRefuted, tried.refuted->at,
                      fmt::format("rewrite {}, by pattern '{}', does not keep what the pattern "
                                  "claims: {}",
                                  tried.refuted->number, tried.refuted->pattern,
                                  tried.refuted->counterexample.difference));
    return false;
  }
  const RunValidation validation(*before, pipeline, settings);
  const ChangeVerdict verdict = validation.compare(module);
  switch (verdict.kind) {
    case PatternVerdict::Kind::kUntested:
      return refuse(DiagCode::kNotValidated, verdict.reason);
    case PatternVerdict::Kind::kKept:
      write_error_text(fmt::format("module '@{}': {} runs with {} elements give equal results\n",
                                   name, verdict.runs, verdict.elements));
      return true;
    case PatternVerdict::Kind::kRefuted:
      break;
  }
  const Counterexample& found = *verdict.counterexample;
  const std::string culprit = validation.first_wrong_rewrite(how.rewrites->made);
  save(found, name, settings, diagnostics);
  return refuse(DiagCode::kClaimRefuted,
                fmt::format("the passes change results: {}; {}", found.difference, culprit));
}

}  // namespace mir::tools
