// Steps all texts of a batch together and shows them in their order.
#include "batch.hpp"

#include <algorithm>

#include "generation/stop_texts.hpp"
#include "mir/codes/generation.hpp"
#include "support/platform/memory.hpp"

namespace mir::tools {
namespace {

using tokenizer::TokenId;

/// One text of a batch.
struct Sequence {
  generation::Sampler sampler;
  tokenizer::TokenStream stream;
  generation::StopTexts stops;
  std::vector<TokenId> next;  ///< tokens that the caches lack
  Answer answer = {};
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

  std::optional<std::vector<Answer>> run() {
    if (!begin()) return std::nullopt;
    const auto begin = Clock::now();
    auto prefilled = begin;
    for (bool is_first = true; !has_ended(); is_first = false) {
      std::vector<std::span<const TokenId>> ids;
      for (const Sequence& each : sequences_) ids.emplace_back(each.next);
      const auto logits = model_.generator().run_each(ids, diagnostics_, options_);
      if (!logits) return std::nullopt;
      const auto now = Clock::now();
      if (is_first) prefilled = now;
      for (std::size_t i = 0; i < sequences_.size(); ++i) {
        Sequence& each = sequences_[i];
        if (each.has_ended) continue;
        if (!is_first) ++each.answer.decode_runs;
        if (!step(each, (*logits)[i])) return std::nullopt;
        if (each.has_ended)
          each.answer.times.push_back(
              {seconds_between(begin, prefilled), seconds_between(prefilled, now)});
      }
      show();
    }
    std::vector<Answer> answers;
    for (Sequence& each : sequences_) answers.push_back(std::move(each.answer));
    return answers;
  }

 private:
  bool report(const Error& error) {
    diagnostics_.error(error.code, {}, error.message);
    return false;
  }

  bool begin() {
    for (const auto& prompt : request_.prompts) {
      if (prompt.empty()) return report({diag::kNotGenerative, "a prompt has no tokens"});
      Sequence& each = sequences_.emplace_back(
          Sequence{.sampler = generation::Sampler(request_.sampling),
                   .stream = tokenizer::TokenStream(model_.tokenizer(), {.skips_special = true}),
                   .stops = generation::StopTexts(*settings_.stop),
                   .next = prompt});
      each.answer.prompt_tokens = prompt.size();
      for (const TokenId token : prompt) {
        each.sampler.see(token);
        if (const auto text = each.stream.add(token); !text) return report(text.error());
      }
    }
    return true;
  }

  bool has_ended() const {
    return std::ranges::all_of(sequences_, [](const Sequence& each) { return each.has_ended; });
  }

  /// Chooses a token of a text.
  bool step(Sequence& each, std::span<const float> logits) {
    const auto end = std::min<std::size_t>(logits.size(), model_.tokenizer().id_end());
    const auto token = each.sampler.choose(logits, static_cast<std::uint32_t>(end));
    if (!token) return report(token.error());
    Answer& answer = each.answer;
    if (answer.first_token == 0) answer.first_token = seconds_between(request_.start, Clock::now());
    each.next.assign(1, *token);
    answer.tokens.push_back(*token);
    each.sampler.see(*token);
    const auto& ends = model_.facts().end_tokens;
    if (!settings_.ignore_end && std::ranges::binary_search(ends, *token)) {
      finish(each, Finish::kEnd);
      return true;
    }
    const auto text = each.stream.add(*token);
    if (!text) return report(text.error());
    answer.text += each.stops.add(*text);
    if (each.stops.is_found()) {
      finish(each, Finish::kStop);
    } else if (answer.tokens.size() >= *settings_.max_tokens) {
      finish(each, Finish::kLength);
    }
    return true;
  }

  void finish(Sequence& each, Finish how) {
    each.answer.finish = how;
    each.has_ended = true;
    each.next.clear();
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
  std::vector<Sequence> sequences_;
  std::size_t shown_ = 0;  // sequences whose text is complete and shown
};

}  // namespace

std::optional<std::vector<Answer>> generate_batch(LoadedModel& model,
                                                  const RunTextSettings& settings,
                                                  const BatchRequest& request,
                                                  Diagnostics& diagnostics) {
  return Batch(model, settings, request, diagnostics).run();
}

}  // namespace mir::tools
