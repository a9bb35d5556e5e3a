// Builds the test for interesting texts from the options of mllm-reduce.
#include "tools/reduce/question.hpp"

#include <utility>

#include "mir/codes/runs.hpp"
#include "support/platform/interrupts.hpp"

namespace mir::tools {

Question::Question(const ReduceSettings& settings, Pipeline pipeline, int interrupt)
    : settings_(settings), pipeline_(std::move(pipeline)), interrupt_(interrupt) {}

reduce::Surroundings Question::surroundings() const {
  return {settings_.known.registry, [this](IRContext& context, Diagnostics& diagnostics) {
            return register_dialects(settings_.dialects, context, diagnostics);
          }};
}

reduce::Comparison Question::comparison() const {
  return {.validation = {.count = *settings_.validate, .seed = *settings_.seed},
          .bound = settings_.bound.if_given()};
}

reduce::Interest Question::interest() const {
  reduce::Interest inner;
  if (command_) {
    inner = [this](const std::string& text) { return command_->judge(text); };
  } else if (settings_.differs) {
    inner = reduce::changes_results({surroundings(), pipeline_}, comparison());
  } else {
    inner = reduce::reports_code(*settings_.reports, {surroundings(), pipeline_});
  }
  return [this, inner](const std::string& text) -> Result<reduce::Answer> {
    if (is_interrupted(interrupt_)) return Error{diag::kCancelled, "interrupted"};
    return inner(text);
  };
}

}  // namespace mir::tools
