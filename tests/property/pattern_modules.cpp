// Modules that random patterns match: they verify after each rewrite and give the same results. A
// wrong pattern is found by bisection.
#include <algorithm>
#include <random>

#include "mir/codes/passes.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/rewriter.hpp"
#include "mir/validate.hpp"
#include "mir/walk.hpp"
#include "module_generator.hpp"
#include "pattern_generator.hpp"
#include "pattern_subject.hpp"
#include "validate/run_module.hpp"

namespace pattern_modules {

using namespace mir;
using namespace mir::test;

namespace {

using enum RewriteClaim::Kind;

/// A module, and the patterns that rewrite it.
class Workpiece {
 public:
  explicit Workpiece(std::uint64_t seed) : seed_(seed), random_(seed) {
    register_builtin_dialects(context_);
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  void add(GeneratedPattern pattern) { patterns_.push_back(std::move(pattern)); }
  const GeneratedPattern* find(std::string_view name) const {
    const auto found = std::ranges::find(patterns_, name, &GeneratedPattern::name);
    return found == patterns_.end() ? nullptr : &*found;
  }

  /// A random module, or an empty one, with instances of the patterns. False if none fits.
  bool make_module(bool is_empty) {
    has_weights_ = !is_empty;
    std::string text = "@main [mir_version:1] () -> () {\n    cf.ReturnOp () -> ()\n}\n";
    if (!is_empty) {
      text = generate_module({.seed = seed_,
                              .graphs = static_cast<int>(below(2)),
                              .ops = 1 + static_cast<int>(below(4)),
                              .symbolic = one_in(2),
                              .recalls = false});
    }
    Diagnostics problems;
    module_ = read_module(text, context_, problems);
    REQUIRE(module_ != nullptr);
    if (!is_small()) return false;
    int planted = 0;
    for (const GeneratedPattern& each : patterns_) {
      for (std::uint64_t i = 0; i < 1 + below(2); ++i) planted += plant(each) ? 1 : 0;
    }
    INFO(print(*module_));
    Diagnostics found;
    REQUIRE(verify(*module_, found));
    return planted > 0;
  }

  bool read_patterns() {
    std::string text;
    for (const GeneratedPattern& each : patterns_) text += each.text();
    pattern_text_ = file_of(text);
    INFO(pattern_text_);
    Diagnostics problems;
    const Module* rules = read_module(pattern_text_, context_, problems);
    if (rules == nullptr) return false;
    PatternSet set;
    if (!add_patterns(set, *rules, problems)) return false;
    frozen_ = std::make_unique<FrozenPatterns>(std::move(set));
    return true;
  }

  struct Rewritten {
    std::unique_ptr<Module> module;
    std::vector<std::string> rewrites{};  ///< their patterns
    bool has_failed = false;
  };
  /// The module after so many rewrites at most. Each is verified if `verifies`.
  Rewritten rewritten(std::uint64_t limit, bool verifies) {
    Rewritten made{.module = clone(*module_)};
    RewriteWatch watch{.limit = limit};
    watch.trace = [&](std::uint64_t, std::string_view pattern, std::string_view) {
      made.rewrites.emplace_back(pattern);
      if (!verifies) return;
      Diagnostics found;
      const bool is_good = verify(*made.module, found);
      INFO(pattern, ": ", messages_of(found), print(*made.module), pattern_text_);
      CHECK(is_good);
    };
    Diagnostics problems;
    const GreedyReport report =
        rewrite_greedily(*made.module, made.module->body(), *frozen_, {.watch = &watch}, problems);
    made.has_failed = report.has_failed;
    for (const Diagnostic& each : problems.sorted()) {
      INFO(each.message);
      CHECK(each.code == diag::kNotConverging);
    }
    return made;
  }

  /// How the rewritten module differs; empty: it does not. No value if nothing runs.
  std::optional<std::string> difference(const Module& after) const {
    if (has_weights_) {
      const ChangeVerdict verdict = validate_change(*module_, after, {.count = 3, .seed = seed_});
      if (verdict.kind == PatternVerdict::Kind::kUndecided) return std::nullopt;
      return verdict.counterexample ? verdict.counterexample->difference : "";
    }
    bool has_run = false;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto inputs = drawn_inputs(*module_, claim(), seed_ * 16 + i);
      if (!inputs) return std::nullopt;
      const auto expected = validate::run_module(*module_, *inputs);
      if (!expected) continue;
      has_run = true;
      const auto actual = validate::run_module(after, *inputs);
      if (!actual) return "the run fails after the rewrites";
      if (const auto found = validate::difference(*expected, *actual, claim())) return found->text;
    }
    return has_run ? std::optional<std::string>("") : std::nullopt;
  }

  /// The pattern of the first rewrite after which results differ.
  std::string culprit(std::uint64_t count) {
    std::uint64_t equal = 0, different = count;
    while (different - equal > 1) {
      const std::uint64_t middle = equal + (different - equal) / 2;
      const auto found = difference(*rewritten(middle, false).module);
      (found.value_or("") == "" ? equal : different) = middle;
    }
    return rewritten(different, false).rewrites.back();
  }

  /// The weakest claim of the patterns.
  RewriteClaim claim() const {
    RewriteClaim weakest;
    for (const GeneratedPattern& each : patterns_) {
      if (each.claim().kind > weakest.kind) weakest = each.claim();
    }
    return weakest;
  }

  /// Whether every rewrite leaves fewer ops, so that rewriting ends.
  bool all_shrink() const { return std::ranges::all_of(patterns_, &GeneratedPattern::shrinks); }

  Module& module() { return *module_; }
  const std::string& pattern_text() const { return pattern_text_; }
  std::span<const GeneratedPattern> patterns() const { return patterns_; }

 private:
  bool is_small() const {
    constexpr std::int64_t kMost = 1 << 12;
    bool is_small = true;
    for_each_op(*module_, [&](const Op& op) {
      for (const Value& result : op.results()) {
        const TensorType* type = result.tensor_type();
        if (type != nullptr && type->element_count().value_or(0) > kMost) is_small = false;
      }
    });
    return is_small;
  }

  /// Values of the body by type.
  Value* any_of(const Type* type) {
    std::vector<Value*> found;
    Block& block = *module_->body().entry();
    for (Value& argument : block.arguments()) {
      if (argument.type() == type) found.push_back(&argument);
    }
    for (Op* op : block.ops()) {
      for (Value& result : op->results()) {
        const bool is_plain = result.attributes().empty() && !result.has_symbol();
        if (result.type() == type && is_plain) found.push_back(&result);
      }
    }
    return found.empty() ? nullptr : found[below(found.size())];
  }

  bool plant(const GeneratedPattern& pattern) {
    Diagnostics problems;
    const Module* instance = nullptr;
    for (int tries = 0; tries < 8 && instance == nullptr; ++tries) {
      Diagnostics ignored;
      instance = read_module(pattern.instance(random_()).before, context_, ignored);
    }
    if (instance == nullptr) return false;
    Rewriter rewriter(*module_);
    Block& block = *module_->body().entry();
    RewriteMapping mapping;
    // A bound holds for inputs, not for whatever other ops make of them.
    const bool is_bound = pattern.claim().kind == kBound;
    for (const Value& input : instance->body().only_block().arguments()) {
      Value* value = is_bound || one_in(2) ? nullptr : any_of(input.type());
      if (value == nullptr) {
        value = rewriter.add_argument(block, input.type());
        rewriter.set_name(*value, module_->fresh_name());
      }
      mapping.map(input, *value);
    }
    Op& end = *block.terminator();
    std::vector<Value*> outputs;
    for (const Use& use : end.operand_uses()) outputs.push_back(use.value());
    rewriter.set_insertion_point(end);
    for (const Op* op : instance->body().only_block().ops()) {
      if (op->is(OpId::kCfReturn)) {
        for (const Use& use : op->operand_uses()) outputs.push_back(mapping.find(*use.value()));
        continue;
      }
      Op* copy = rewriter.clone(*op, mapping);
      for (Value& result : copy->results()) {
        rewriter.set_name(result, module_->fresh_name());
        if (one_in(12)) outputs.push_back(&result);
      }
    }
    rewriter.set_operands(end, outputs);
    std::vector<const Type*> types;
    for (const Value* each : outputs) types.push_back(each->type());
    rewriter.set_result_types(module_->body(), types);
    return true;
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  IRContext context_;
  std::vector<GeneratedPattern> patterns_;
  std::string pattern_text_;
  Module* module_ = nullptr;
  std::unique_ptr<FrozenPatterns> frozen_;
  bool has_weights_ = false;
};

constexpr std::uint64_t kMostRewrites = 24;

GeneratedPattern pattern_number(std::uint64_t number) {
  return GeneratedPattern::make(number, fmt::format("p{}", number));
}

/// Adds 1 to 8 right patterns with bits or numbers as their claims.
void add_right_patterns(Workpiece& piece) {
  const std::uint64_t count = 1 + piece.below(8);
  for (std::uint64_t i = 0; i < count;) {
    auto pattern = pattern_number(piece.below(1'000'000));
    if (pattern.claim().kind == kBound || piece.find(pattern.name()) != nullptr) continue;
    piece.add(std::move(pattern));
    ++i;
  }
}

}  // namespace

TEST_SUITE("random patterns") {
  TEST_CASE("modules that right patterns rewrite verify and give the same results") {
    std::uint64_t made = 0, compared = 0, matched = 0, rewrites = 0, applied = 0, patterns = 0;
    std::uint64_t endless = 0;
    const Seeds seeds = seeds_of(250);
    for (const std::uint64_t seed : seeds) {
      CAPTURE(seed);
      Workpiece piece(seed);
      const bool is_bound = seed % 8 == 7;
      if (is_bound) {
        // A second rewrite might be of values that the bound does not hold for.
        for (std::uint64_t i = 0; piece.patterns().empty(); ++i) {
          auto pattern = pattern_number(seed * 1000 + i);
          if (pattern.claim().kind == kBound) piece.add(std::move(pattern));
        }
      } else {
        add_right_patterns(piece);
      }
      REQUIRE(piece.read_patterns());
      if (!piece.make_module(is_bound || seed % 2 == 0)) continue;
      ++made;
      const bool ends = piece.all_shrink();
      const auto after = piece.rewritten(is_bound ? 1
                                         : ends   ? 10 * kMostRewrites
                                                  : kMostRewrites,
                                         true);
      CHECK_FALSE((ends && after.has_failed));
      endless += after.has_failed ? 1 : 0;
      rewrites += after.rewrites.size();
      matched += after.rewrites.empty() ? 0 : 1;
      patterns += piece.patterns().size();
      for (const GeneratedPattern& each : piece.patterns()) {
        applied += std::ranges::find(after.rewrites, each.name()) != after.rewrites.end() ? 1 : 0;
      }
      const auto difference = piece.difference(*after.module);
      if (!difference) continue;
      ++compared;
      INFO(print(piece.module()), print(*after.module), piece.pattern_text());
      CHECK(*difference == "");
      if (*difference != "") INFO(piece.culprit(after.rewrites.size()));
    }
    report_figures(
        fmt::format("{} modules, {} with rewrites, {} compared; {} rewrites, {} of {} patterns "
                    "applied, {} runs without an end",
                    made, matched, compared, rewrites, applied, patterns, endless));
    CHECK(matched * 10 > made * 8);
    CHECK(applied * 2 > patterns);
    CHECK(compared * 2 > seeds.count());
  }

  TEST_CASE("a module that a wrong pattern rewrites has other results, and bisection names it") {
    std::uint64_t matched = 0, by_chance = 0, found = 0;
    const Seeds seeds = seeds_of(250);
    for (const std::uint64_t seed : seeds) {
      CAPTURE(seed);
      Workpiece piece(seed);
      const auto right = pattern_number(seed);
      const auto wrong = right.with_fault(seed, "wrong");
      if (right.claim().kind == kBound || !wrong) continue;
      piece.add(*wrong);
      if (seed % 2 == 0) add_right_patterns(piece);
      if (!piece.read_patterns() || !piece.make_module(seed % 4 < 2)) continue;
      const auto after = piece.rewritten(kMostRewrites, true);
      const auto difference = piece.difference(*after.module);
      if (!difference) continue;
      const bool is_applied = std::ranges::find(after.rewrites, "wrong") != after.rewrites.end();
      matched += is_applied ? 1 : 0;
      INFO(wrong->fault(), print(piece.module()), print(*after.module), piece.pattern_text());
      INFO(*difference);
      if (*difference == "") {
        by_chance += is_applied ? 1 : 0;
        continue;
      }
      REQUIRE(is_applied);
      CHECK(piece.culprit(after.rewrites.size()) == "wrong");
      ++found;
    }
    report_figures(fmt::format("{} modules with a wrong rewrite, {} refuted, {} equal", matched,
                               found, by_chance));
    CHECK(found * 10 > matched * 6);
    CHECK(matched * 3 > seeds.count());
  }
}

}  // namespace pattern_modules
