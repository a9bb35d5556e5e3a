// Figures of generated texts, as a line and as JSON.
#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mir::tools {
namespace {

using nlohmann::ordered_json;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ordered_json phase(std::size_t tokens, double seconds) {
  return {{"tokens", tokens}, {"seconds", seconds}, {"tokens_per_second", rate(tokens, seconds)}};
}

std::string count_text(std::size_t count) {
  return fmt::format("{} token{}", count, count == 1 ? "" : "s");
}

std::size_t generated_tokens(const AnswerReport& report) {
  std::size_t tokens = 0;
  for (const Answer& each : report.answers) tokens += each.tokens.size();
  return tokens;
}

}  // namespace

std::string_view name_of(Finish finish) {
  switch (finish) {
    case Finish::kEnd:
      return "end";
    case Finish::kStop:
      return "stop";
    case Finish::kLength:
      return "length";
    case Finish::kError:
      break;
  }
  return "error";
}

double rate(std::size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

Times Answer::median() const {
  std::vector<double> prefill, decode;
  for (const Times& each : times) {
    prefill.push_back(each.prefill);
    decode.push_back(each.decode);
  }
  return {median_of(std::move(prefill)), median_of(std::move(decode))};
}

std::string figures_text(const Answer& answer, std::size_t number) {
  const Times median = answer.median();
  if (answer.finish == Finish::kError)
    return fmt::format("prompt {}: failed after {}\n", number, count_text(answer.tokens.size()));
  return fmt::format(
      "prompt{}: {} in {:.3f} s ({:.1f} tokens/s); answer: {}, {} decoded in {:.3f} s ({:.1f} "
      "tokens/s); first token after {:.2f} s\n",
      number == 0 ? std::string() : fmt::format(" {}", number), count_text(answer.prompt_tokens),
      median.prefill, rate(answer.prompt_tokens, median.prefill), count_text(answer.tokens.size()),
      answer.decode_runs, median.decode, rate(answer.decode_runs, median.decode),
      answer.first_token);
}

std::string batch_text(const AnswerReport& report) {
  const std::size_t tokens = generated_tokens(report);
  const double seconds = report.batch_seconds.value_or(0);
  const std::size_t prompts = report.answers.size();
  return fmt::format("{} prompt{}: {} generated in {:.3f} s ({:.1f} tokens/s)\n", prompts,
                     prompts == 1 ? "" : "s", count_text(tokens), seconds, rate(tokens, seconds));
}

std::string to_json(const AnswerReport& report) {
  ordered_json answers = ordered_json::array();
  for (const Answer& each : report.answers) {
    const Times median = each.median();
    ordered_json runs = ordered_json::array();
    for (const Times& times : each.times)
      runs.push_back({{"prefill_seconds", times.prefill}, {"decode_seconds", times.decode}});
    answers.push_back({{"text", each.text},
                       {"tokens", each.tokens},
                       {"finish", name_of(each.finish)},
                       {"cached_tokens", each.cached_tokens},
                       {"prefill", phase(each.prompt_tokens, median.prefill)},
                       {"decode", phase(each.decode_runs, median.decode)},
                       {"first_token_seconds", each.first_token},
                       {"runs", std::move(runs)}});
  }
  ordered_json document = {{"schema", 1},
                           {"model", report.model},
                           {"load_seconds", report.load_seconds},
                           {"answers", std::move(answers)}};
  if (report.batch_seconds)
    document["batch"] = phase(generated_tokens(report), *report.batch_seconds);
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mir::tools
