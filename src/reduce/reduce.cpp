// The reduction loop: tries steps in turn, several at once, until none makes the text smaller.
#include "reduce/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "mir/codes/passes.hpp"
#include "passes/run/in_threads.hpp"
#include "reduce/steps.hpp"

namespace mir::reduce {

namespace {

constexpr Step kSteps[] = {
    {"drop modules", drop_modules},
    {"drop graphs", drop_graphs},
    {"eliminate unused parts", eliminate_unused},
    {"drop ops", drop_ops},
    {"inline calls", inline_calls},
    {"extract a graph", extract_graph, true, true},
    {"drop outputs", drop_outputs},
    {"bypass ops", bypass_ops},
    {"drop inputs", drop_inputs},
    {"merge inputs", merge_inputs},
    {"bind symbols", bind_symbols, true},
    {"shrink extents", shrink_extents, true},
    {"drop attributes", drop_attributes},
    {"simplify constants", simplify_constants, true},
    {"simplify names", simplify_names},
};

class Reduction {
 public:
  Reduction(const Surroundings& surroundings, const ReduceOptions& options)
      : surroundings_(surroundings), options_(options) {}

  Result<ReduceReport> run(const std::string& text) {
    if (auto begun = begin(text); !begun) return std::move(begun).error();
    std::string before;
    do {
      before = report_.text;
      if (auto done = try_all_steps(); !done) report_.stopped = std::move(done).error();
    } while (!report_.stopped && before != report_.text);
    return std::move(report_);
  }

 private:
  std::unique_ptr<Draft> draft_of(const std::string& text) const {
    Diagnostics ignored(1);
    return Draft::read(text, surroundings_, ignored);
  }

  Result<void> begin(const std::string& text) {
    Diagnostics found(1);
    const auto draft = Draft::read(text, surroundings_, found);
    if (draft == nullptr) {
      const auto errors = found.sorted();
      return Error{errors.front().code, "it cannot be read: " + errors.front().message};
    }
    must_verify_ = draft->verifies();
    report_.text = draft->text();
    report_.before = report_.after = draft->size();
    if (report_.text == text) return options_.keep(text);
    ++report_.tests;
    const auto answer = options_.interest(report_.text);
    if (!answer) return answer.error();
    if (!answer->is_interesting) {
      return Error{diag::kNotInteresting,
                   fmt::format("it is not interesting in canonical form: {}", answer->found)};
    }
    return options_.keep(report_.text);
  }

  Result<void> try_all_steps() {
    for (const Step& step : all_steps()) {
      auto done = step.one_by_one ? try_each(step) : try_chunks(step);
      if (!done) return done;
    }
    return {};
  }

  /// Edits [first, last) of a step.
  struct Attempt {
    std::size_t first = 0, last = 0;
  };
  /// Result of an attempt on the text. Several attempts are made at once.
  struct Trial {
    std::string text{};  ///< empty: the edits do not apply, or change nothing
    Size size{};
    std::optional<Result<Answer>> answer{};  ///< none: the text is not worth a test
  };

  Trial trial_of(const Step& step, const Attempt& attempt) const {
    const auto draft = draft_of(report_.text);
    const Edits edits = step.offer(*draft);
    for (std::size_t i = attempt.first; i < attempt.last && !draft->has_failed(); ++i) {
      edits.list[i]();
    }
    if (edits.finish) edits.finish();
    Trial trial;
    if (draft->has_failed()) return trial;
    std::string text = draft->text();
    if (text == report_.text || tried_.contains(std::hash<std::string>()(text))) return trial;
    trial.text = std::move(text);
    const auto again = draft_of(trial.text);
    if (again == nullptr || (must_verify_ && !again->verifies())) return trial;
    trial.size = again->size();
    // Otherwise a step that renames could go on for ever.
    if (step.drops_graphs && trial.size.graphs >= report_.after.graphs) return trial;
    trial.answer = options_.interest(trial.text);
    return trial;
  }

  /// Makes attempts in order until a text is kept. Returns its position, or their number if none
  /// is. Texts are tested before it is known that those before them are not kept: then the test was
  /// in vain, and counts as not made.
  Result<std::size_t> attempt(const Step& step, std::span<const Attempt> attempts) {
    const std::size_t at_once = std::max(options_.jobs, 1u);
    for (std::size_t begin = 0; begin < attempts.size(); begin += at_once) {
      std::vector<Trial> trials(std::min(at_once, attempts.size() - begin));
      for_each_in_threads(trials.size(), options_.jobs, [&](std::size_t i, std::size_t) {
        trials[i] = trial_of(step, attempts[begin + i]);
      });
      for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto kept = keep_if_interesting(step, std::move(trials[i]));
        if (!kept) return kept.error();
        if (*kept) return begin + i;
      }
    }
    return attempts.size();
  }

  Result<bool> keep_if_interesting(const Step& step, Trial trial) {
    const bool is_new =
        !trial.text.empty() && tried_.insert(std::hash<std::string>()(trial.text)).second;
    if (!is_new || !trial.answer) return false;
    ++report_.tests;
    ++tests_;
    if (!*trial.answer) return trial.answer->error();
    if (!(*trial.answer)->is_interesting) return false;
    return keep(step, std::move(trial.text), trial.size);
  }

  Result<bool> keep(const Step& step, std::string text, const Size& size) {
    if (auto kept = options_.keep(text); !kept) return std::move(kept).error();
    const Success success{
        .step = step.name, .before = report_.after, .after = size, .tests = tests_};
    report_.text = std::move(text);
    report_.after = size;
    tests_ = 0;
    if (options_.report) options_.report(success);
    return true;
  }

  std::size_t count(const Step& step) const {
    return step.offer(*draft_of(report_.text)).list.size();
  }

  /// Chunks of edits of this size, from the last edit before `end` to the first.
  static std::vector<Attempt> chunks_before(std::size_t end, std::size_t size) {
    std::vector<Attempt> chunks;
    while (end > 0) {
      const std::size_t begin = end - std::min(size, end);
      chunks.push_back({begin, end});
      end = begin;
    }
    return chunks;
  }

  /// Delta debugging: tries to apply chunks of edits, from the last to the first, then smaller
  /// ones.
  Result<void> try_chunks(const Step& step) {
    for (std::size_t size = count(step); size > 0; size /= 2) {
      for (std::size_t end = count(step); end > 0;) {
        const auto chunks = chunks_before(end, size);
        const auto kept = attempt(step, chunks);
        if (!kept) return kept.error();
        if (*kept == chunks.size()) break;
        end = std::min(chunks[*kept].first, count(step));
      }
    }
    return {};
  }

  Result<void> try_each(const Step& step) {
    for (std::size_t first = 0, left = count(step); first < left; left = count(step)) {
      std::vector<Attempt> each;
      for (std::size_t i = first; i < left; ++i) each.push_back({i, i + 1});
      const auto kept = attempt(step, each);
      if (!kept) return kept.error();
      if (*kept == each.size()) break;
      first += *kept;
    }
    return {};
  }

  const Surroundings& surroundings_;
  const ReduceOptions& options_;
  bool must_verify_ = false;
  ReduceReport report_;
  std::uint64_t tests_ = 0;  // since the last success
  std::unordered_set<std::size_t> tried_;
};

}  // namespace

std::span<const Step> all_steps() {
  return kSteps;
}

Result<ReduceReport> reduce(const std::string& text, const Surroundings& surroundings,
                            const ReduceOptions& options) {
  return Reduction(surroundings, options).run(text);
}

}  // namespace mir::reduce
