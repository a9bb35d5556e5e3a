// mllm-run: generates text with a model.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "generation/sampler.hpp"
#include "mir/codes/generation.hpp"
#include "report_text.hpp"
#include "standard_error.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"
#include "support/platform/streams.hpp"
#include "tool.hpp"
#include "tools/import/imported_model.hpp"
#include "tools/run/batch.hpp"
#include "tools/run/generation.hpp"
#include "tools/run/lines.hpp"
#include "tools/run/prompts.hpp"
#include "tools/run/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr std::uint64_t kMostPromptBytes = std::uint64_t{64} << 20;

constexpr ToolInfo kRunTool = {
    .name = "mllm-run",
    .summary = "Generates text with a model: a Hugging Face folder, a GGUF file or a module.",
    .operands = "model",
    .examples = {{{"mllm-run qwen2.5-0.5b --prompt='The capital of France is'", "continue a text"},
                  {"mllm-run model.gguf --chat --system='Be brief.' --temperature=0.7",
                   "answer the lines of standard input"}}},
    .files = "gguf mir",
    .writes_output = false,
    .files_behind =
        [](const std::string& path) {
          auto files = files_of_model(path);
          const std::string tokenizer = path + "/tokenizer.json";
          if (file_exists(tokenizer)) files.push_back(tokenizer);
          return files;
        },
};

generation::SamplingOptions sampling_of(const RunTextSettings& settings) {
  return {.temperature = *settings.temperature,
          .top_k = *settings.top_k,
          .top_p = *settings.top_p,
          .min_p = *settings.min_p,
          .repetition_penalty = *settings.repetition_penalty,
          .seed = *settings.seed};
}

/// Seconds since 1970 of a date, or of now; no value if the text is no date.
std::optional<std::int64_t> seconds_of(const RunTextSettings& settings) {
  using namespace std::chrono;
  if (!settings.date.is_given())
    return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  const std::string& text = *settings.date;
  int parts[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [after, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || (i < 2 && (after == end || *after != '-'))) return std::nullopt;
    at = after + (i < 2 ? 1 : 0);
  }
  // A month or a day keeps only the low byte of a number.
  if (parts[0] < 0 || parts[0] > 9999 || parts[1] < 1 || parts[1] > 12 || parts[2] < 1 ||
      parts[2] > 31)
    return std::nullopt;
  const year_month_day date{year(parts[0]), month(static_cast<unsigned>(parts[1])),
                            day(static_cast<unsigned>(parts[2]))};
  if (at != end || !date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch() / seconds(1);
}

/// One run of the tool.
class TextRun {
 public:
  TextRun(const Run& run, const RunTextSettings& settings)
      : run_(run), settings_(settings), diagnostics_(run.diagnostics()) {}

  ExitCode execute() {
    const bool is_good = generate();
    if (has_text_ && !settings_.json) end_line();
    if (is_good && settings_.json) print_document(to_json(report_));
    ExitCode code = run_.report(diagnostics_, context_.sources());
    if (!settings_.quiet && !settings_.json) {
      const bool has_numbers = report_.batch_seconds.has_value();
      for (std::size_t i = 0; i < report_.answers.size(); ++i)
        write_error_text(figures_text(report_.answers[i], has_numbers ? i + 1 : 0));
      if (has_numbers) write_error_text(batch_text(report_));
    }
    return code;
  }

 private:
  bool generate() {
    const auto now = seconds_of(settings_);
    if (!now)
      return refuse(
          fmt::format("--date: '{}' is not a date, expected YYYY-MM-DD", *settings_.date));
    if (const auto good = generation::check_sampling(sampling_of(settings_)); !good)
      return refuse(good.error().message);
    if (is_batch()) {
      if (settings_.save_session.is_given() || settings_.load_session.is_given())
        return refuse("--save-session and --load-session need one prompt, without --prompts");
      if (settings_.repeat.is_given() || settings_.warm_up.is_given())
        return refuse("--repeat and --warm-up need one prompt, without --prompts");
    } else if (settings_.batch.is_given()) {
      return refuse("--batch needs --prompts or several prompts");
    }
    if (!register_dialects(settings_.dialects, context_, diagnostics_)) return false;
    prompts_ = *settings_.prompt;
    if (settings_.prompts.is_given()) {
      auto read = read_prompts(*settings_.prompts, context_.sources(), diagnostics_);
      if (!read) return false;
      prompts_ = *std::move(read);
    }
    const std::size_t sequences = std::min(prompts_.size(), *settings_.batch);
    report_.model = run_.operands().front();
    model_ = LoadedModel::load(report_.model, sequences, settings_, context_, diagnostics_);
    if (!model_ || (settings_.chat && !read_template())) return false;
    report_.load_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    TextGeneration generation(*model_, settings_, sampling_of(settings_), start_,
                              [&](std::string_view text) { show(text); });
    if (settings_.load_session.is_given() &&
        !generation.load(*settings_.load_session, diagnostics_))
      return false;
    if (is_batch()) return generate_batches(*now);
    if (!generate_all(generation, *now)) return false;
    return !settings_.save_session.is_given() ||
           generation.save(*settings_.save_session, diagnostics_);
  }

  bool is_batch() const { return settings_.prompts.is_given() || settings_.prompt->size() > 1; }

  bool refuse(std::string message) {
    diagnostics_.error(usage_error(message).code, {}, std::move(message));
    return false;
  }

  /// Writes the text that a reader waits for. Throws what run_tool reports as file trouble.
  static void flush() {
    if (std::fflush(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write standard output");
  }

  static void end_line() {
    print_styled("\n");
    flush();
  }

  void show(std::string_view text) {
    has_text_ = true;
    if (settings_.json) return;
    print_document(text);
    flush();
  }

  bool generate_all(TextGeneration& generation, std::int64_t now) {
    const bool is_stdin = !settings_.prompt.is_given() &&
                          (!settings_.prompt_file.is_given() || *settings_.prompt_file == "-");
    if (settings_.chat && is_stdin) return converse(generation, now);
    std::string prompt = settings_.prompt.is_given() ? settings_.prompt->front() : std::string();
    const bool continues_alone = is_stdin && settings_.load_session.is_given();
    if (!settings_.prompt.is_given() && !continues_alone) {
      auto text = read_file(is_stdin ? "-" : *settings_.prompt_file, kMostPromptBytes);
      if (!text) return report(text.error());
      prompt = *std::move(text);
    }
    return keep(settings_.chat ? generation.answer(prompt, *template_, now, diagnostics_)
                               : generation.continue_text(prompt, diagnostics_));
  }

  bool generate_batches(std::int64_t now) {
    const auto begin = Clock::now();
    for (std::size_t first = 0; first < prompts_.size(); first += *settings_.batch) {
      const auto all = std::span<const std::string>(prompts_).subspan(first);
      generate_batch(all.first(std::min(all.size(), *settings_.batch)), first, now);
    }
    report_.batch_seconds = seconds_between(begin, Clock::now());
    return true;
  }

  void generate_batch(std::span<const std::string> prompts, std::size_t first, std::int64_t now) {
    BatchRequest request{.prompts = {},
                         .first = first,
                         .sampling = sampling_of(settings_),
                         .start = start_,
                         .sink = {}};
    for (const std::string& prompt : prompts) {
      TextGeneration generation(*model_, settings_, request.sampling, start_, {});
      Diagnostics found;
      auto tokens = generation.tokens_with(prompt, template_ ? &*template_ : nullptr, now, found);
      name_prompt(found, first + request.prompts.size());
      diagnostics_.append(std::move(found));
      request.prompts.push_back(std::move(tokens));
    }
    request.sink = [&](std::size_t prompt, std::string_view text) {
      for (; shown_prompt_ < first + prompt && !settings_.json; ++shown_prompt_) end_line();
      show(text);
    };
    for (Answer& each : tools::generate_batch(*model_, settings_, request, diagnostics_))
      report_.answers.push_back(std::move(each));
  }

  /// Answers each line of standard input.
  bool converse(TextGeneration& generation, std::int64_t now) {
    const bool is_terminal_input = is_terminal(kStandardInput);
    LineReader lines;
    for (bool is_first = true;; is_first = false) {
      if (is_terminal_input) write_error_text("> ");
      const auto line = lines.next();
      if (!line) return report(line.error());
      if (!*line) return true;
      if (!is_first && !settings_.json) end_line();
      if (!keep(generation.answer(**line, *template_, now, diagnostics_))) return false;
    }
  }

  bool keep(std::optional<Answer> answer) {
    if (answer) report_.answers.push_back(*std::move(answer));
    return answer.has_value();
  }

  bool report(const Error& error) {
    diagnostics_.error(error.code, {}, error.message);
    return false;
  }

  bool read_template() {
    const TextFacts& facts = model_->facts();
    std::string name = facts.template_name, text = facts.template_text;
    if (settings_.chat_template.is_given()) {
      name = *settings_.chat_template;
      auto read = read_file(name, chat::ChatTemplate::kMostBytes);
      if (!read) return report(read.error());
      text = *std::move(read);
    } else if (facts.has_only_other_templates) {
      return report({diag::kNotGenerative,
                     "the model has no chat template named 'default': give one with "
                     "--template=FILE"});
    } else if (name.empty()) {
      return report(
          {diag::kNotGenerative, "the model has no chat template: give one with --template=FILE"});
    }
    const SourceFile* file = context_.sources().add(name, chat::with_line_feeds(text));
    if (file == nullptr) return report(SourceManager::full(name));
    template_ = chat::ChatTemplate::parse(*file, diagnostics_);
    return template_.has_value();
  }

  const Run& run_;
  const RunTextSettings& settings_;
  const Clock::time_point start_ = Clock::now();
  Diagnostics diagnostics_;
  IRContext context_;
  std::optional<LoadedModel> model_;
  std::optional<chat::ChatTemplate> template_;
  std::vector<std::string> prompts_;  // to generate at once
  AnswerReport report_;
  bool has_text_ = false;
  std::size_t shown_prompt_ = 0;  // of several
};

ExitCode run_text(const Run& run, const RunTextSettings& settings) {
  if (run.operands().size() != 1)
    return run.usage_error("expected one folder, GGUF file or module; a text is given by --prompt");
  const std::string& model = run.operands().front();
  if (model.ends_with(".mirz"))
    return run.usage_error(fmt::format("'{}' is a pack, which mllm-interp runs", model));
  return TextRun(run, settings).execute();
}

}  // namespace

const Tool mir::tools::kMllmRun = tool_of<kRunTool, run_text>();
