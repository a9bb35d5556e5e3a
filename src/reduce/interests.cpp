// Built-in interests: texts that report a code, and passes that change results.
#include "reduce/interests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/rewriter.hpp"
#include "mir/verify.hpp"

namespace mir::reduce {

namespace {

bool has_code(const Diagnostics& found, DiagCode code) {
  return std::ranges::any_of(found.counts(),
                             [code](const DiagnosticCount& each) { return each.code == code; });
}

std::string codes_of(const Diagnostics& found) {
  std::string codes;
  for (const DiagnosticCount& each : found.counts()) {
    codes += fmt::format("{}{}", codes.empty() ? "" : ", ", spelling(each.code));
  }
  return codes.empty() ? "no code" : codes;
}

Answer answer_of(const Diagnostics& found, DiagCode code) {
  return {has_code(found, code), fmt::format("{} is reported", codes_of(found))};
}

Answer changed_by(const Module& before, const Pipeline& pipeline, const Comparison& how) {
  const auto after = clone(before);
  Diagnostics found;
  if (!run_pipeline(*after, pipeline, {}, found)) {
    const auto errors = found.sorted();
    return {false,
            errors.empty() ? "the passes fail" : "the passes fail: " + errors.front().message};
  }
  return compare(before, *after, how);
}

}  // namespace

Answer compare(const Module& before, const Module& after, const Comparison& how) {
  if (!before.is_portable() || !after.is_portable()) {
    return {false, "only portable modules can be compared by running them"};
  }
  const ChangeVerdict verdict = validate_change(before, after, how.validation, how.bound);
  switch (verdict.kind) {
    case PatternVerdict::Kind::kRefuted:
      return {true, verdict.counterexample->difference};
    case PatternVerdict::Kind::kUndecided:
      return {false, verdict.reason};
    case PatternVerdict::Kind::kKept:
      break;
  }
  return {false, fmt::format("{} runs give equal results", verdict.runs)};
}

Interest reports_code(DiagCode code, Passes passes) {
  return [code, passes](const std::string& text) -> Result<Answer> {
    Diagnostics found;
    const auto draft = Draft::read(text, passes.surroundings, found);
    if (draft == nullptr) return answer_of(found, code);
    const PipelineRun how{
        .verify = [](Module& module, Diagnostics& each) { return verify(module, each); }};
    for (Module* module : draft->modules()) {
      // Failures are reported in `found`.
      run_pipeline(*module, passes.pipeline, how, found);
    }
    return answer_of(found, code);
  };
}

Interest changes_results(Passes passes, Comparison how) {
  return [passes, how](const std::string& text) -> Result<Answer> {
    Diagnostics found;
    const auto draft = Draft::read(text, passes.surroundings, found);
    if (draft == nullptr) return Answer{false, "it cannot be read"};
    Answer answer;
    for (const Module* module : draft->modules()) {
      answer = changed_by(*module, passes.pipeline, how);
      if (answer.is_interesting) break;
    }
    return answer;
  };
}

}  // namespace mir::reduce
