// Steps all texts of a batch together and shows them in their order.
#include "batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generation/stop_texts.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "support/platform/memory.hpp"

namespace mir::tools {
namespace {

using tokenizer::TokenId;

/// Tokens of all rows of a batch, which are padded to the longest one.
constexpr std::size_t kMostPaddedTokens = std::size_t{1} << 24;

/// One text of a batch.
struct Sequence {
  generation::Sampler sampler;
  tokenizer::TokenStream stream;
  generation::StopTexts stops;
  std::vector<TokenId> next;  ///< tokens that the caches lack
  Answer answer = {};
  Clock::time_point prefilled = {};  ///< when it had its first token
  bool has_ended = false;
  std::size_t shown = 0;  ///< bytes of the text
};

class Batch {
 public:
  Batch(LoadedModel& model, const RunTextSettings& settings, const BatchRequest& request,
        Diagnostics& diagnostics)
      : model_(model), settings_(settings), request_(request), diagnostics_(diagnostics) {
    if (const auto memory = machine_memory()) options_.memory_limit = *memory;
  }

  std::vector<Answer> run() {
    begin();
    for (std::vector<std::size_t> active = active_ones(); !active.empty(); active = active_ones()) {
      run_all(active);
      show();
    }
    show();
    std::vector<Answer> answers;
    for (Sequence& each : sequences_) answers.push_back(std::move(each.answer));
    return answers;
  }

 private:
  void begin() {
    begin_ = Clock::now();
    const auto capacity = model_.generator().capacity();
    sequences_.reserve(request_.prompts.size());
    for (const auto& prompt : request_.prompts) {
      Sequence& each = sequences_.emplace_back(
          Sequence{.sampler = generation::Sampler(request_.sampling),
                   .stream = tokenizer::TokenStream(model_.tokenizer(), {.skips_special = true}),
                   .stops = generation::StopTexts(*settings_.stop),
                   .next = prompt.value_or(std::vector<TokenId>{})});
      if (!prompt) {
        end(each, Finish::kError);
        continue;
      }
      if (prompt->empty()) {
        fail(each, {diag::kNotGenerative, "it has no tokens"});
        continue;
      }
      if (prompt->size() > kMostPaddedTokens / request_.prompts.size()) {
        fail(each, {diag::kLimitExceeded,
                    fmt::format("it has {} tokens, and so many for each of {} prompts exceed {}; "
                                "choose a smaller --batch",
                                prompt->size(), request_.prompts.size(), kMostPaddedTokens)});
        continue;
      }
      // All rows are padded to the longest prompt, so that one too long would cost each of them.
      if (capacity && prompt->size() > static_cast<std::uint64_t>(*capacity)) {
        fail(each, {diag::kCacheCapacity, fmt::format("it has {} tokens, the caches hold {}",
                                                      prompt->size(), *capacity)});
        continue;
      }
      each.answer.prompt_tokens = prompt->size();
      for (const TokenId token : *prompt) {
        each.sampler.see(token);
        if (const auto text = each.stream.add(token); !text) {
          fail(each, text.error());
          break;
        }
      }
    }
  }

  std::vector<std::size_t> active_ones() const {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < sequences_.size(); ++i)
      if (!sequences_[i].has_ended) active.push_back(i);
    return active;
  }

  /// Computes the next token of each of these texts; of each alone if all together cannot run.
  void run_all(std::span<const std::size_t> active) {
    if (active.size() > 1) {
      Diagnostics found;
      if (run(active, found)) return diagnostics_.append(std::move(found));
    }
    for (const std::size_t i : active) {
      Diagnostics found;
      const bool is_good = run(std::span(&i, 1), found);
      name_prompt(found, request_.first + i);
      diagnostics_.append(std::move(found));
      if (!is_good) end(sequences_[i], Finish::kError);
    }
  }

  bool run(std::span<const std::size_t> which, Diagnostics& diagnostics) {
    std::vector<std::span<const TokenId>> ids(sequences_.size());
    for (const std::size_t i : which) ids[i] = sequences_[i].next;
    const auto logits = model_.generator().run_each(ids, diagnostics, options_);
    if (!logits) return false;
    for (const std::size_t i : which) step(sequences_[i], (*logits)[i]);
    return true;
  }

  void fail(Sequence& each, const Error& error) {
    Diagnostics found;
    found.error(error.code, {}, error.message);
    name_prompt(found, request_.first + static_cast<std::size_t>(&each - sequences_.data()));
    diagnostics_.append(std::move(found));
    end(each, Finish::kError);
  }

  /// Chooses a token of a text.
  void step(Sequence& each, std::span<const float> logits) {
    const auto end_of_ids = std::min<std::size_t>(logits.size(), model_.tokenizer().id_end());
    const auto token = each.sampler.choose(logits, static_cast<std::uint32_t>(end_of_ids));
    if (!token) return fail(each, token.error());
    Answer& answer = each.answer;
    if (answer.tokens.empty()) {
      each.prefilled = Clock::now();
      answer.first_token = seconds_between(request_.start, each.prefilled);
    } else {
      ++answer.decode_runs;
    }
    each.next.assign(1, *token);
    answer.tokens.push_back(*token);
    each.sampler.see(*token);
    const auto& ends = model_.facts().end_tokens;
    if (!settings_.ignore_end && std::ranges::binary_search(ends, *token))
      return end(each, Finish::kEnd);
    const auto text = each.stream.add(*token);
    if (!text) return fail(each, text.error());
    answer.text += each.stops.add(*text);
    if (each.stops.is_found()) {
      end(each, Finish::kStop);
    } else if (answer.tokens.size() >= *settings_.max_tokens) {
      end(each, Finish::kLength);
    }
  }

  void end(Sequence& each, Finish how) {
    each.answer.finish = how;
    each.has_ended = true;
    each.next.clear();
    const auto prefilled = each.answer.tokens.empty() ? Clock::now() : each.prefilled;
    each.answer.times.push_back(
        {seconds_between(begin_, prefilled), seconds_between(prefilled, Clock::now())});
    if (each.stops.is_found()) return;
    if (const auto rest = each.stream.finish()) each.answer.text += each.stops.add(*rest);
    if (!each.stops.is_found()) each.answer.text += each.stops.finish();
  }

  /// Shows the text of the first sequence that has not ended, and those before it.
  void show() {
    for (; shown_ < sequences_.size(); ++shown_) {
      Sequence& each = sequences_[shown_];
      const auto rest = std::string_view(each.answer.text).substr(each.shown);
      if (!rest.empty() || each.has_ended) request_.sink(shown_, rest);
      each.shown = each.answer.text.size();
      if (!each.has_ended) return;
    }
  }

  LoadedModel& model_;
  const RunTextSettings& settings_;
  const BatchRequest& request_;
  Diagnostics& diagnostics_;
  RunOptions options_;
  Clock::time_point begin_;
  std::vector<Sequence> sequences_;
  std::size_t shown_ = 0;  // sequences whose text is complete and shown
};

}  // namespace

void name_prompt(Diagnostics& found, std::size_t index) {
  const std::string title = fmt::format("prompt {}: ", index + 1);
  const auto is_unnamed = [&](const Diagnostic& each) { return !each.message.starts_with(title); };
  while (Diagnostic* error = found.find_error(is_unnamed)) error->message.insert(0, title);
}

std::vector<Answer> generate_batch(LoadedModel& model, const RunTextSettings& settings,
                                   const BatchRequest& request, Diagnostics& diagnostics) {
  model.generator().reset();
  return Batch(model, settings, request, diagnostics).run();
}

}  // namespace mir::tools
