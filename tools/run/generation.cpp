// Generates texts token by token, measures them, and keeps them for saved sessions.
#include "generation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generation/stop_texts.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/usage.hpp"
#include "support/platform/memory.hpp"

namespace mir::tools {
namespace {

using tokenizer::TokenId;

void report(const Error& error, Diagnostics& diagnostics) {
  diagnostics.error(error.code, {}, error.message);
}

}  // namespace

TextGeneration::TextGeneration(LoadedModel& model, const RunTextSettings& settings,
                               const generation::SamplingOptions& sampling, Clock::time_point start,
                               Sink sink)
    : model_(model),
      settings_(settings),
      sampler_(sampling),
      start_(start),
      sink_(std::move(sink)) {
  if (const auto memory = machine_memory()) run_options_.memory_limit = *memory;
  if (settings.system.is_given()) messages_.push_back({"system", *settings.system});
}

bool TextGeneration::load(const std::string& path, Diagnostics& diagnostics) {
  auto saved =
      generation::read_saved_session(path, model_.fingerprint(), model_.generator().session());
  if (!saved) {
    report(saved.error(), diagnostics);
    return false;
  }
  const bool are_known = std::ranges::all_of(
      saved->tokens, [&](TokenId token) { return token < model_.tokenizer().id_end(); });
  if (!are_known) {
    report(
        {diag::kSavedSessionOfOther, fmt::format("'{}' has tokens that the tokenizer lacks", path)},
        diagnostics);
    return false;
  }
  const bool is_chat = !saved->messages.empty();
  std::string problem;
  if (is_chat && !settings_.chat) {
    problem = fmt::format("'{}' is the session of a chat: continue it with --chat", path);
  } else if (!is_chat && settings_.chat && !saved->tokens.empty()) {
    problem = fmt::format("'{}' is not the session of a chat: continue it without --chat", path);
  } else if (is_chat && settings_.system.is_given()) {
    problem = fmt::format("--system: the chat of '{}' has begun already", path);
  }
  if (!problem.empty()) {
    report({diag::kUsage, std::move(problem)}, diagnostics);
    return false;
  }
  // Options of the command line are the newer ones.
  auto options = saved->sampling;
  const auto& given = sampler_.options();
  if (settings_.temperature.is_given()) options.temperature = given.temperature;
  if (settings_.top_k.is_given()) options.top_k = given.top_k;
  if (settings_.top_p.is_given()) options.top_p = given.top_p;
  if (settings_.min_p.is_given()) options.min_p = given.min_p;
  if (settings_.repetition_penalty.is_given())
    options.repetition_penalty = given.repetition_penalty;
  if (settings_.seed.is_given()) options.seed = given.seed;
  sampler_ = generation::Sampler(options);
  sampler_.restart(settings_.seed.is_given() ? 0 : saved->draws);
  model_.generator().restart_at(saved->position);
  tokens_ = std::move(saved->tokens);
  if (!saved->messages.empty()) messages_.clear();
  for (auto& [role, content] : saved->messages) messages_.push_back({role, content});
  return true;
}

bool TextGeneration::save(const std::string& path, Diagnostics& diagnostics) {
  generation::SavedSession saved{.model = model_.fingerprint(),
                                 .tokens = tokens_,
                                 .position = model_.generator().position(),
                                 .sampling = sampler_.options(),
                                 .draws = sampler_.draws()};
  for (const chat::Message& each : messages_) saved.messages.emplace_back(each.role, each.content);
  const auto written = generation::write_saved_session(path, saved, model_.generator().session());
  if (!written) report(written.error(), diagnostics);
  return written.ok();
}

std::optional<std::vector<TokenId>> TextGeneration::encode(std::string_view text,
                                                           const tokenizer::EncodeOptions& options,
                                                           Diagnostics& diagnostics) {
  auto ids = model_.tokenizer().encode(text, options);
  if (ids) return *std::move(ids);
  report(ids.error(), diagnostics);
  return std::nullopt;
}

std::optional<std::vector<TokenId>> TextGeneration::tokens_with(
    const std::string& prompt, const chat::ChatTemplate* chat_template, std::int64_t now,
    Diagnostics& diagnostics) {
  if (chat_template == nullptr) {
    const auto ids = encode(prompt, {.adds_special = tokens_.empty()}, diagnostics);
    if (!ids) return std::nullopt;
    std::vector<TokenId> tokens = tokens_;
    tokens.insert(tokens.end(), ids->begin(), ids->end());
    return tokens;
  }
  messages_.push_back({"user", prompt});
  chat::Conversation conversation{.messages = messages_, .now = now};
  for (const auto& [name, text] : model_.facts().special_tokens)
    conversation.variables.emplace_back(name, chat::Value(text));
  const auto text = chat_template->render(conversation, diagnostics);
  if (!text) return std::nullopt;
  const auto plain = encode(prompt, {.adds_special = false, .finds_special = false}, diagnostics);
  const auto special = encode(prompt, {.adds_special = false}, diagnostics);
  if (plain && special && *plain != *special)
    diagnostics.warning(diag::kTemplateFailed, {},
                        "the turn contains the text of a special token, which is read as one");
  // The template has written the special tokens.
  return encode(*text, {.adds_special = false}, diagnostics);
}

std::optional<Answer> TextGeneration::continue_text(const std::string& prompt,
                                                    Diagnostics& diagnostics) {
  auto tokens = tokens_with(prompt, nullptr, 0, diagnostics);
  if (!tokens) return std::nullopt;
  return generate(*std::move(tokens), diagnostics);
}

std::optional<Answer> TextGeneration::answer(const std::string& turn,
                                             const chat::ChatTemplate& chat_template,
                                             std::int64_t now, Diagnostics& diagnostics) {
  auto tokens = tokens_with(turn, &chat_template, now, diagnostics);
  if (!tokens) return std::nullopt;
  auto answered = generate(*std::move(tokens), diagnostics);
  if (answered) messages_.push_back({"assistant", answered->text});
  return answered;
}

std::optional<Answer> TextGeneration::generate(std::vector<TokenId> tokens,
                                               Diagnostics& diagnostics) {
  generation::Generator& generator = model_.generator();
  const auto held = static_cast<std::size_t>(generator.position());
  const std::size_t warm_up = *settings_.warm_up, all = warm_up + *settings_.repeat;
  // Repeated generations take the same steps: none begins with cached tokens.
  const bool continues =
      all == 1 && tokens.size() > held &&
      std::equal(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(held),
                 tokens.begin());
  if (!continues) generator.reset();
  tokens_ = std::move(tokens);
  if (tokens_.empty()) {
    report({diag::kNotGenerative, "the prompt has no tokens"}, diagnostics);
    return std::nullopt;
  }
  const std::vector<TokenId> before = tokens_;
  const auto cached = static_cast<std::size_t>(generator.position());
  const std::uint64_t draws = sampler_.draws();
  Answer answer;
  answer.cached_tokens = cached;
  for (std::size_t i = 0; i < all; ++i) {
    if (i > 0) {
      // The same generation from the beginning.
      generator.reset();
      tokens_ = before;
      sampler_.restart(draws);
      answer.cached_tokens = 0;
    }
    if (i >= 1) answer.text.clear();
    answer.tokens.clear();
    answer.decode_runs = 0;
    if (!generate_once(answer, i == 0, diagnostics)) return std::nullopt;
    if (i < warm_up) answer.times.clear();
  }
  return answer;
}

bool TextGeneration::generate_once(Answer& answer, bool is_shown, Diagnostics& diagnostics) {
  generation::Generator& generator = model_.generator();
  const tokenizer::Tokenizer& tokenizer = model_.tokenizer();
  const auto& ends = model_.facts().end_tokens;
  tokenizer::TokenStream stream(tokenizer, {.skips_special = true});
  // The penalty counts the tokens of this text, not those of earlier turns that it dropped.
  sampler_.restart(sampler_.draws());
  for (const TokenId token : tokens_) {
    sampler_.see(token);
    // The answer begins where the text of the prompt ends.
    if (const auto text = stream.add(token); !text) return report(text.error(), diagnostics), false;
  }
  generation::StopTexts stops(*settings_.stop);
  const auto show = [&](const std::string& text) {
    answer.text += text;
    if (is_shown && !text.empty()) sink_(text);
  };
  const auto held = static_cast<std::size_t>(generator.position());
  answer.prompt_tokens = tokens_.size() - held;
  const auto begin = Clock::now();
  auto logits = generator.run(std::span(tokens_).subspan(held), diagnostics, run_options_);
  const auto prefilled = Clock::now();
  answer.finish = Finish::kLength;
  while (logits) {
    const auto end = std::min<std::size_t>(logits->size(), tokenizer.id_end());
    const auto token = sampler_.choose(*logits, static_cast<std::uint32_t>(end));
    if (!token) return report(token.error(), diagnostics), false;
    if (answer.first_token == 0) answer.first_token = seconds_between(start_, Clock::now());
    tokens_.push_back(*token);
    answer.tokens.push_back(*token);
    sampler_.see(*token);
    if (!settings_.ignore_end && std::ranges::binary_search(ends, *token)) {
      answer.finish = Finish::kEnd;
      break;
    }
    const auto text = stream.add(*token);
    if (!text) return report(text.error(), diagnostics), false;
    show(stops.add(*text));
    if (stops.is_found()) {
      answer.finish = Finish::kStop;
      break;
    }
    if (answer.tokens.size() >= *settings_.max_tokens) break;
    logits = generator.run(std::span(tokens_).last(1), diagnostics, run_options_);
    ++answer.decode_runs;
  }
  answer.times.push_back(
      {seconds_between(begin, prefilled), seconds_between(prefilled, Clock::now())});
  if (!logits) return false;
  // A character that is not complete belongs to the text that continues a saved session.
  if (answer.finish != Finish::kLength || !settings_.save_session.is_given()) {
    if (const auto rest = stream.finish(); rest && !stops.is_found()) show(stops.add(*rest));
  }
  if (!stops.is_found()) show(stops.finish());
  return true;
}

}  // namespace mir::tools
