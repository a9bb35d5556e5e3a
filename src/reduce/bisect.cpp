// Finds by bisection the first pass and rewrite after which a judgement holds.
#include "reduce/bisect.hpp"

#include <fmt/format.h>

#include "mir/codes/passes.hpp"
#include "mir/rewriter.hpp"

namespace mir::reduce {

namespace {

/// Stops a pipeline after a pass and notes the rewrites before and after it.
class PassLimit : public PassObserver {
 public:
  PassLimit(std::size_t last, const RewriteWatch& watch) : last_(last), watch_(watch) {}

  void will_run(const PassStep& step, Module&) override {
    before_ = watch_.made;
    name_ = step.pass().name;
  }
  bool did_run(const PassStep& step, Module&, const PassReport&, Diagnostics&) override {
    steps_ = step.number;
    return steps_ < last_;
  }

  bool is_reached() const { return steps_ >= last_; }
  std::size_t steps() const { return steps_; }
  const std::string& name() const { return name_; }
  std::uint64_t rewrites_before() const { return before_; }

 private:
  std::size_t last_;
  const RewriteWatch& watch_;
  std::size_t steps_ = 0;
  std::uint64_t before_ = 0;
  std::string name_;
};

/// Runs the first passes of a pipeline, with a limit of rewrites, on copies of a module.
class PipelineBisection {
 public:
  PipelineBisection(const Module& module, const Pipeline& pipeline, const Judgement& judgement,
                    const TypedMap* facts)
      : module_(module), pipeline_(pipeline), judgement_(judgement), facts_(facts) {}

  Result<Culprit> find() {
    RewriteWatch watch;
    PassLimit all(kNoLimit, watch);
    if (run(watch, all) == nullptr) {
      return Error{diag::kNotInteresting,
                   fmt::format("pass '{}' of the pipeline fails", all.name())};
    }
    const auto at_first = holds(0, std::nullopt);
    if (!at_first) return at_first.error();
    if (*at_first) return Error{diag::kNotInteresting, "the test holds before the first pass"};
    const auto at_last = holds(all.steps(), std::nullopt);
    if (!at_last) return at_last.error();
    if (!*at_last) {
      return Error{diag::kNotInteresting,
                   "the test does not hold after the last pass, so no pass is to blame"};
    }
    const auto pass = first_true(0, all.steps(), [&](std::uint64_t middle) {
      return holds(static_cast<std::size_t>(middle), std::nullopt);
    });
    if (!pass) return pass.error();
    return find_rewrite(static_cast<std::size_t>(*pass));
  }

 private:
  static constexpr std::size_t kNoLimit = ~std::size_t{0};

  /// The module after the passes up to the limit; null if one fails.
  std::unique_ptr<Module> run(RewriteWatch& watch, PassLimit& limit) const {
    auto copy = clone(module_);
    Diagnostics ignored;
    const bool is_good = run_pipeline(
        *copy, pipeline_, {.rewrites = &watch, .facts = facts_, .observers = {&limit}}, ignored);
    if (!is_good && !limit.is_reached()) copy.reset();
    return copy;
  }

  std::unique_ptr<Module> module_after(std::size_t passes) const {
    if (passes == 0) return clone(module_);
    RewriteWatch watch;
    PassLimit limit(passes, watch);
    return run(watch, limit);
  }

  Result<bool> holds(std::size_t passes, std::optional<std::uint64_t> rewrites) const {
    if (passes == 0) return judgement_(module_, module_);
    RewriteWatch watch{.limit = rewrites};
    PassLimit limit(passes, watch);
    const auto after = run(watch, limit);
    return after == nullptr ? Result<bool>(false) : judgement_(module_, *after);
  }

  /// The least number above `wrong` for which `is_true` is; it is for `right`.
  template <class IsTrue>
  static Result<std::uint64_t> first_true(std::uint64_t wrong, std::uint64_t right,
                                          const IsTrue& is_true) {
    while (right - wrong > 1) {
      const std::uint64_t middle = wrong + (right - wrong) / 2;
      const Result<bool> is_right = is_true(middle);
      if (!is_right) return is_right.error();
      (*is_right ? right : wrong) = middle;
    }
    return right;
  }

  Result<Culprit> find_rewrite(std::size_t pass) const {
    RewriteWatch watch;
    PassLimit limit(pass, watch);
    auto after = run(watch, limit);
    Culprit culprit{.pass = pass,
                    .name = limit.name(),
                    .before = module_after(pass - 1),
                    .after = std::move(after)};
    const std::uint64_t before = limit.rewrites_before();
    if (watch.made == before) return culprit;
    const auto without = holds(pass, before);
    if (!without) return without.error();
    if (*without) return culprit;
    const auto rewrite =
        first_true(before, watch.made, [&](std::uint64_t middle) { return holds(pass, middle); });
    if (!rewrite) return rewrite.error();
    culprit.rewrite = described(pass, *rewrite);
    return culprit;
  }

  Culprit::Rewrite described(std::size_t pass, std::uint64_t wanted) const {
    Culprit::Rewrite found{.number = wanted, .pattern = "", .root = ""};
    RewriteWatch watch{.limit = wanted};
    watch.trace = [&](std::uint64_t, std::string_view pattern, std::string_view root) {
      found.pattern = pattern;
      found.root = root;
    };
    PassLimit limit(pass, watch);
    run(watch, limit);
    return found;
  }

  const Module& module_;
  const Pipeline& pipeline_;
  const Judgement& judgement_;
  const TypedMap* facts_;
};

}  // namespace

Result<Culprit> bisect(const Module& module, const Pipeline& pipeline, const Judgement& judgement,
                       const TypedMap* facts) {
  return PipelineBisection(module, pipeline, judgement, facts).find();
}

std::string spelling(const Culprit& culprit) {
  std::string text = fmt::format("pass {} '{}'", culprit.pass, culprit.name);
  if (!culprit.rewrite) return text;
  return text + fmt::format(", rewrite {}: '{}' of {}", culprit.rewrite->number,
                            culprit.rewrite->pattern, culprit.rewrite->root);
}

}  // namespace mir::reduce
