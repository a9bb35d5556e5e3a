// Generated text with its tokens and times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mir::tools {

/// Why a text ended.
enum class Finish : std::uint8_t { kEnd, kStop, kLength, kError };
std::string_view name_of(Finish finish);

struct Times {
  double prefill = 0;  ///< seconds of the run of the prompt
  double decode = 0;   ///< seconds from the first token to the end of the last run
};

struct Answer {
  std::string text;
  std::vector<std::uint32_t> tokens;
  Finish finish = Finish::kLength;
  std::size_t prompt_tokens = 0;  ///< prompt tokens computed in this run
  std::size_t cached_tokens = 0;  ///< tokens in the caches before this run
  std::size_t decode_runs = 0;
  double first_token = 0;    ///< seconds from the start of the program
  std::vector<Times> times;  ///< of each measured generation

  /// Returns the median times of all measured generations.
  Times median() const;
};

/// Tokens in a second; 0 if the time is too short to tell.
double rate(std::size_t tokens, double seconds);

/// The figures in one line, with the number of the prompt if it is not 0.
std::string figures_text(const Answer& answer, std::size_t number = 0);

struct AnswerReport {
  std::string model;
  double load_seconds = 0;  ///< from the start of the program until the model could run
  std::vector<Answer> answers;
  std::optional<double> batch_seconds{};  ///< of all generations, if prompts are generated at once
};
/// The figures of all prompts that are generated at once, in one line.
std::string batch_text(const AnswerReport& report);
/// docs/generation-json.md has the schema.
std::string to_json(const AnswerReport& report);

}  // namespace mir::tools
