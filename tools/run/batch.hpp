// Generates the texts of several prompts at once, each as it would be alone.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "generation.hpp"

namespace mir::tools {

struct BatchRequest {
  /// Tokens; no value for a prompt whose error has been reported.
  std::vector<std::optional<std::vector<std::uint32_t>>> prompts;
  std::size_t first = 0;                 ///< number of the first of them, from 0
  generation::SamplingOptions sampling;  ///< of each
  Clock::time_point start;               ///< when the program began
  /// Takes text: that of the first prompt while it is generated, then that of the next.
  std::function<void(std::size_t prompt, std::string_view text)> sink;
};

/// Puts the number of a prompt, counted from 0, before the errors that it caused.
void name_prompt(Diagnostics& found, std::size_t index);

/// Returns the answer of each prompt. One that fails is reported and ends with Finish::kError,
/// with the text that it has; the others go on.
std::vector<Answer> generate_batch(LoadedModel& model, const RunTextSettings& settings,
                                   const BatchRequest& request, Diagnostics& diagnostics);

}  // namespace mir::tools
