// Generates the texts of several prompts at once, each as it would be alone.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "generation.hpp"

namespace mir::tools {

struct BatchRequest {
  std::vector<std::vector<std::uint32_t>> prompts;  ///< tokens
  generation::SamplingOptions sampling;             ///< of each
  Clock::time_point start;                          ///< when the program began
  /// Takes text: that of the first prompt while it is generated, then that of the next.
  std::function<void(std::size_t prompt, std::string_view text)> sink;
};

/// Returns the answer of each prompt; no value after reporting.
std::optional<std::vector<Answer>> generate_batch(LoadedModel& model,
                                                  const RunTextSettings& settings,
                                                  const BatchRequest& request,
                                                  Diagnostics& diagnostics);

}  // namespace mir::tools
