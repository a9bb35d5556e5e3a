// Generates answers: prompts and turns in, text out as soon as it is certain.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "generation/sampler.hpp"
#include "generation/saved_session.hpp"
#include "loaded_model.hpp"

namespace mir::tools {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The text of one process: its tokens, and the caches of the model with most of them.
class TextGeneration {
 public:
  using Sink = std::function<void(std::string_view text)>;

  /// `start` is when the program began; `sink` takes text while it is generated.
  TextGeneration(LoadedModel& model, const RunTextSettings& settings,
                 const generation::SamplingOptions& sampling, Clock::time_point start, Sink sink);

  /// Continues the session of a file. False after reporting.
  bool load(const std::string& path, Diagnostics& diagnostics);
  /// Writes the session. False after reporting.
  bool save(const std::string& path, Diagnostics& diagnostics);

  /// Continues the text with a prompt, which may be empty if there is text already. No value after
  /// reporting.
  std::optional<Answer> continue_text(const std::string& prompt, Diagnostics& diagnostics);
  /// Answers a turn of a conversation by the template.
  std::optional<Answer> answer(const std::string& turn, const chat::ChatTemplate& chat_template,
                               std::int64_t now, Diagnostics& diagnostics);

  /// Returns the tokens of the text with a prompt, or of the conversation with a turn if there is a
  /// template. No value after reporting.
  std::optional<std::vector<std::uint32_t>> tokens_with(const std::string& prompt,
                                                        const chat::ChatTemplate* chat_template,
                                                        std::int64_t now, Diagnostics& diagnostics);

 private:
  std::optional<std::vector<std::uint32_t>> encode(std::string_view text,
                                                   const tokenizer::EncodeOptions& options,
                                                   Diagnostics& diagnostics);
  /// Makes `tokens` the text, and generates. Caches of other tokens are emptied.
  std::optional<Answer> generate(std::vector<std::uint32_t> tokens, Diagnostics& diagnostics);
  bool generate_once(Answer& answer, bool is_shown, Diagnostics& diagnostics);

  LoadedModel& model_;
  const RunTextSettings& settings_;
  generation::Sampler sampler_;
  Clock::time_point start_;
  Sink sink_;
  RunOptions run_options_;
  std::vector<std::uint32_t> tokens_;  // those of the caches first
  std::vector<chat::Message> messages_;
};

}  // namespace mir::tools
