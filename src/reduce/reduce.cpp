#include "reduce/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

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
  Reduction(const PassRegistry& passes, const ReduceOptions& options)
      : passes_(passes), options_(options) {}

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
    return Draft::read(text, passes_, ignored);
  }

  Result<void> begin(const std::string& text) {
    Diagnostics found(1);
    const auto draft = Draft::read(text, passes_, found);
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
      return Error{DiagCode::kNotInteresting,
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

  /// Applies the edits [first, last) of a step. Returns true if the result was kept.
  Result<bool> attempt(const Step& step, std::size_t first, std::size_t last) {
    const auto draft = draft_of(report_.text);
    const Edits edits = step.offer(*draft);
    for (std::size_t i = first; i < last && !draft->has_failed(); ++i) edits.list[i]();
    if (edits.finish) edits.finish();
    if (draft->has_failed()) return false;
    std::string text = draft->text();
    if (text == report_.text || !tried_.insert(std::hash<std::string>()(text)).second) return false;
    const auto again = draft_of(text);
    if (again == nullptr || (must_verify_ && !again->verifies())) return false;
    const Size size = again->size();
    // Otherwise a step that renames could go on for ever.
    if (step.drops_graphs && size.graphs >= report_.after.graphs) return false;
    ++report_.tests;
    ++tests_;
    const auto answer = options_.interest(text);
    if (!answer) return answer.error();
    if (!answer->is_interesting) return false;
    return keep(step, std::move(text), size);
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

  /// Delta debugging: tries to apply chunks of edits, from the last to the first, then smaller
  /// ones.
  Result<void> try_chunks(const Step& step) {
    for (std::size_t size = count(step); size > 0; size /= 2) {
      for (std::size_t end = count(step); end > 0;) {
        const std::size_t begin = end - std::min(size, end);
        const auto kept = attempt(step, begin, end);
        if (!kept) return kept.error();
        end = *kept ? std::min(begin, count(step)) : begin;
      }
    }
    return {};
  }

  Result<void> try_each(const Step& step) {
    std::size_t left = count(step);
    for (std::size_t i = 0; i < left;) {
      const auto kept = attempt(step, i, i + 1);
      if (!kept) return kept.error();
      if (*kept) {
        left = count(step);
      } else {
        ++i;
      }
    }
    return {};
  }

  const PassRegistry& passes_;
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

Result<ReduceReport> reduce(const std::string& text, const PassRegistry& passes,
                            const ReduceOptions& options) {
  return Reduction(passes, options).run(text);
}

}  // namespace mir::reduce
