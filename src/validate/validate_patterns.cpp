// Tests the claims of patterns on random instances and reports counterexamples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "ir/declares_dialect.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "mir/ops.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/validate.hpp"
#include "mir/verify.hpp"
#include "passes/rewrite/pattern_text.hpp"
#include "patterns/match.hpp"
#include "validate/coverage.hpp"
#include "validate/instance.hpp"
#include "validate/run_module.hpp"
#include "validate/values.hpp"

namespace mir {

namespace {

using patterns::OpTemplate;
using patterns::Pattern;
using validate::Coverage;
using validate::Instance;
using validate::ValueStyle;

/// The claim of a pattern, with a domain from which values can be drawn.
RewriteClaim tried_claim(const Pattern& pattern) {
  RewriteClaim claim = claim_of(pattern);
  if (!(pattern.largest > 0)) claim.largest = validate::kUsualLargest;
  return claim;
}

/// True if a graph is exact on integers in Float64: it has only sums, products and moves, and the
/// degree of the polynomial that they compute keeps powers of the inputs exact.
bool is_exact_on_integers(const patterns::GraphTemplate& graph) {
  constexpr OpId kExact[] = {OpId::kLinalgAdd, OpId::kLinalgSub,    OpId::kLinalgMul,
                             OpId::kLinalgNeg, OpId::kLinalgMatMul, OpId::kLinalgReduceSum};
  constexpr int kMostDegree = 4;  // 2^40 for inputs of ValueStyle::kIntegers
  std::vector<int> degrees(graph.values.size(), 1);
  for (const OpTemplate& op : graph.ops) {
    const bool is_move =
        has(op.info->row->traits, Trait::kMoves) || has(op.info->row->traits, Trait::kView);
    if (!is_move && std::ranges::find(kExact, op.kind.op()) == std::end(kExact)) return false;
    const bool multiplies = op.kind.op() == OpId::kLinalgMul || op.kind.op() == OpId::kLinalgMatMul;
    int degree = 0;
    for (const std::uint32_t operand : op.operands) {
      degree = multiplies ? degree + degrees[operand] : std::max(degree, degrees[operand]);
    }
    if (degree > kMostDegree) return false;
    for (const std::uint32_t result : op.results) degrees[result] = degree;
  }
  return true;
}

/// True if all constants of a module are integers like those that inputs hold.
bool has_only_integers(const Module& module) {
  constexpr double kMost = 1024;
  for (const Op* op : module.body().only_block().ops()) {
    for (const Use& use : op->operand_uses()) {
      const Attr* numbers =
          use.value()->is_free() ? use.value()->attribute(key::kConstant) : nullptr;
      if (numbers == nullptr) continue;
      for (const Attr* each : numbers->elements()) {
        const double number = each->number();
        if (number != std::trunc(number) || !(std::abs(number) <= kMost)) return false;
      }
    }
  }
  return true;
}

bool is_elementwise(const patterns::GraphTemplate& graph) {
  return std::ranges::all_of(graph.ops, [](const OpTemplate& op) {
    return has(op.info->row->traits, Trait::kElementwise);
  });
}

/// Why the ops of a pattern cannot run in a trial; empty if they can.
std::string reason_not_to_run(const Pattern& pattern) {
  for (const patterns::GraphTemplate* graph : {&pattern.match, &pattern.rewrite}) {
    for (const OpTemplate& op : graph->ops) {
      if (!is_declared(op.info->dialect) || op.info->row->body) continue;
      return fmt::format("nothing computes '{}', whose declaration has no body", op.info->name);
    }
  }
  return "";
}

/// Both sides of a rewrite of one instance.
class Trial {
 public:
  /// Weights are drawn by `seed`.
  Trial(const Pattern& pattern, std::uint64_t seed) : pattern_(pattern), seed_(seed) {}

  /// Reads the instance and applies the pattern to it. False if the pattern does not match it.
  bool prepare(const std::string& text, IRContext& context) {
    context_ = &context;
    before_ = read(text);
    after_ = before_ == nullptr ? nullptr : read(text);
    if (after_ == nullptr) return false;
    std::vector<Op*> ops;
    for (Op* op : after_->body().only_block().ops()) {
      if (!isa<SubGraphOp>(op)) ops.push_back(op);  // @init
    }
    Op* root = ops[pattern_.steps.front().op];
    patterns::Mismatch mismatch;
    const auto plan = patterns::match(pattern_, *root, true, mismatch);
    if (!plan) {
      reason_ = std::move(mismatch.reason);
      return false;
    }
    if (seen_) seen_(plan->bindings);
    Rewriter rewriter(*after_);
    rewriter.set_default_location(root->location());
    patterns::apply(rewriter, *plan);
    rewriter.erase_unused_free_values(after_->body());
    settle_ports(*after_);
    return true;
  }
  ~Trial() {
    if (before_ != nullptr) context_->release(*before_);
    if (after_ != nullptr) context_->release(*after_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// True if the constants of both sides are small integers.
  bool has_only_integers() const {
    return mir::has_only_integers(*before_) && mir::has_only_integers(*after_);
  }

  /// Explains why the pattern did not match.
  const std::string& reason() const { return reason_; }

  enum class Outcome : std::uint8_t { kEqual, kDiffers, kNotRun };
  /// Runs both sides. A difference becomes the counterexample.
  Outcome run(std::span<const Tensor> inputs, const RewriteClaim& claim) {
    const auto expected = validate::run_module(*before_, inputs, seed_);
    if (!expected) return Outcome::kNotRun;
    Diagnostics found(1);
    if (!verify(*after_, found)) {
      return differ(
          inputs, *expected, {},
          "the module does not verify after the rewrite: " + found.sorted().front().message);
    }
    const auto actual = validate::run_module(*after_, inputs, seed_);
    if (!actual) return differ(inputs, *expected, {}, "the run fails after the rewrite");
    elements_ += validate::compared_elements(*expected, claim);
    const auto difference = validate::difference(*expected, *actual, claim);
    return difference ? differ(inputs, *expected, *actual, difference->text) : Outcome::kEqual;
  }

  std::uint64_t elements() const { return elements_; }
  /// Sets the function that sees the bindings of the match.
  void watch(std::function<void(const patterns::Bindings&)> seen) { seen_ = std::move(seen); }
  Counterexample take_counterexample() { return std::move(counterexample_); }

 private:
  Module* read(const std::string& text) {
    Diagnostics found(1);
    const SourceFile* file = context_->sources().add("instance.mir", text);
    const std::vector<Module*> modules = read_modules(*file, *context_, found);
    if (modules.empty()) return nullptr;
    if (!found.has_errors() && verify(*modules.front(), found)) return modules.front();
    for (Module* each : modules) context_->release(*each);
    return nullptr;
  }

  Outcome differ(std::span<const Tensor> inputs, std::vector<Tensor> expected,
                 std::vector<Tensor> actual, std::string difference) {
    counterexample_ = {.before = print(*before_),
                       .after = print(*after_),
                       .dialects = text_of_declared_dialects(*context_),
                       .inputs = {inputs.begin(), inputs.end()},
                       .expected = std::move(expected),
                       .actual = std::move(actual),
                       .difference = std::move(difference)};
    return Outcome::kDiffers;
  }

  const Pattern& pattern_;
  std::uint64_t seed_;
  IRContext* context_ = nullptr;
  Module *before_ = nullptr, *after_ = nullptr;
  std::string reason_;
  std::uint64_t elements_ = 0;
  std::function<void(const patterns::Bindings&)> seen_;
  Counterexample counterexample_;
};

/// All trials of one pattern.
class Validation {
 public:
  Validation(std::shared_ptr<const Pattern> pattern, IRContext& context,
             const ValidationOptions& options)
      : options_(options), draw_(options.seed), context_(&context), pattern_(std::move(pattern)) {
    claim_ = tried_claim(*pattern_);
  }

  PatternVerdict validate() {
    verdict_.pattern = pattern_->name;
    verdict_.at = pattern_->at;
    verdict_.claim = claim_;
    validate::InstanceDrawer drawer(*pattern_, *context_, draw_);
    coverage_.emplace(*pattern_, drawer);
    if (std::string reason = reason_not_to_run(*pattern_); !reason.empty()) {
      return undecided(reason);
    }
    if (!try_all_values(drawer) || !try_instances(drawer)) return std::move(verdict_);
    verdict_.missing_types = coverage_->missing_types();
    verdict_.missing_ranks = coverage_->missing_ranks();
    verdict_.missing_branches = coverage_->missing_branches();
    if (verdict_.instances == 0) {
      return undecided(
          fmt::format("none of {} instances could be run{}", tries_,
                      last_reason_.empty() ? "" : "; the last one did not match: " + last_reason_));
    }
    const std::uint64_t least = std::min(options_.count, kLeastInstances);
    if (verdict_.instances < least || verdict_.elements < least * kLeastElements) {
      return undecided(fmt::format("{} instances with {} elements ran, expected at least {} and {}",
                                   verdict_.instances, verdict_.elements, least,
                                   least * kLeastElements));
    }
    if (coverage_->lacks_ranks(kLeastRanks, options_.count / 8)) {
      return undecided("the inputs that ran have one rank, expected two or more");
    }
    return std::move(verdict_);
  }

 private:
  PatternVerdict undecided(std::string_view reason) {
    verdict_.kind = PatternVerdict::Kind::kUndecided;
    verdict_.reason = reason;
    return std::move(verdict_);
  }

  /// False if a trial refutes the pattern.
  bool try_all_values(validate::InstanceDrawer& drawer) {
    constexpr std::array kSmall = {DType::kBool,     DType::kInt8,       DType::kUInt8,
                                   DType::kInt16,    DType::kUInt16,     DType::kFloat16,
                                   DType::kBFloat16, DType::kFloat8E4M3, DType::kFloat8E5M2};
    constexpr int kTries = 20;
    if (claim_.kind == RewriteClaim::Kind::kBound || pattern_->match.input_count != 1 ||
        !is_elementwise(pattern_->match) || !is_elementwise(pattern_->rewrite)) {
      return true;
    }
    for (const DType dtype : kSmall) {
      const Tensor values = *validate::all_values(dtype);
      for (int i = 0; i < kTries; ++i) {
        const auto instance = drawer.draw_with(dtype, values.elements());
        if (!instance || instance->inputs[0].shape != values.shape()) continue;
        Trial trial(*pattern_, options_.seed);
        if (!prepare(trial, *instance, instance->text)) continue;
        const auto outcome = trial.run({&values, 1}, claim_);
        if (outcome == Trial::Outcome::kDiffers) return with_one_value(drawer, values, trial);
        if (outcome == Trial::Outcome::kNotRun) continue;
        verdict_.whole.push_back(dtype);
        note(trial, *instance);
        break;
      }
    }
    return true;
  }

  /// Searches the input values for a single one that refutes the pattern.
  bool with_one_value(validate::InstanceDrawer& drawer, const Tensor& values, Trial& all) {
    constexpr int kTries = 20;
    Counterexample found = all.take_counterexample();
    std::optional<validate::Difference> difference;
    if (!found.actual.empty()) {  // otherwise the rewrite leaves a module that does not run
      difference = validate::difference(found.expected, found.actual, claim_);
    }
    const std::size_t width = info(values.dtype()).unit_bytes;
    for (int i = 0; difference && i < kTries; ++i) {
      const auto instance = drawer.draw_with(values.dtype(), 1);
      auto one = Tensor::allocate(values.dtype(), {1});
      if (!instance || !one) continue;
      std::memcpy(one->mutable_bytes(),
                  values.bytes().data() + static_cast<std::size_t>(difference->element) * width,
                  width);
      Trial trial(*pattern_, options_.seed);
      if (!trial.prepare(instance->text, *context_)) continue;
      if (trial.run({&*one, 1}, claim_) != Trial::Outcome::kDiffers) continue;
      found = trial.take_counterexample();
      break;
    }
    verdict_.kind = PatternVerdict::Kind::kRefuted;
    verdict_.counterexample = std::move(found);
    return false;
  }

  /// False if the pattern does not match the instance.
  bool prepare(Trial& trial, const Instance& instance, const std::string& text) {
    trial.watch([&](const patterns::Bindings& bindings) {
      coverage_->match(instance, bindings, *context_);
    });
    return trial.prepare(text, *context_);
  }

  bool try_instances(validate::InstanceDrawer& drawer) {
    constexpr std::uint64_t kTriesForOne = 200;
    const bool is_exact = claim_.kind == RewriteClaim::Kind::kBound &&
                          is_exact_on_integers(pattern_->match) &&
                          is_exact_on_integers(pattern_->rewrite);
    const std::uint64_t most = options_.count * kTriesForOne;
    for (tries_ = 0; tries_ < most && verdict_.instances < options_.count; ++tries_) {
      // Give up on a pattern that hardly ever fits.
      if (verdict_.instances == 0 && tries_ > 20 * kTriesForOne * 5) break;
      // Large extents follow, at once if a pattern does not match small ones. The size does not
      // depend on the count, so that a larger count begins with the same instances.
      constexpr std::uint64_t kOfEachSize = 8, kSizes = 4;
      const std::uint64_t misses = verdict_.instances == 0 ? tries_ / kTriesForOne : 0;
      const std::uint64_t wanted = verdict_.instances < kOfEachSize * kSizes
                                       ? verdict_.instances / kOfEachSize
                                       : verdict_.instances % kSizes;
      const int size =
          static_cast<int>(std::min<std::uint64_t>(kSizes - 1, std::max(wanted, misses)));
      drawer.prefer(coverage_->next_type(tries_), coverage_->next_rank(tries_));
      const auto instance = drawer.draw(size);
      if (!instance || !try_instance(*instance, is_exact)) {
        if (verdict_.kind == PatternVerdict::Kind::kRefuted) return false;
      }
    }
    return true;
  }

  /// False if the instance did not run, or refuted the pattern.
  bool try_instance(const Instance& instance, bool is_exact) {
    // With few elements to compare, an instance shows little.
    const auto is_dull = [](const Instance::Input& each) {
      const auto count = element_count(each.shape);
      return !count || *count < 2;
    };
    if (!draw_.one_in(8) && std::ranges::all_of(instance.inputs, is_dull)) return false;
    // Symbolic extents are tried where the module verifies with them.
    const bool is_symbolic = draw_.one_in(4);
    Trial trial(*pattern_, options_.seed);
    if (!prepare(trial, instance, is_symbolic ? instance.symbolic_text : instance.text)) {
      if (!is_symbolic && !trial.reason().empty()) {
        last_reason_ = trial.reason();
        coverage_->refuse(instance);
      }
      return false;
    }
    const bool is_float64 = std::ranges::all_of(
        instance.inputs, [](const Instance::Input& each) { return each.dtype == DType::kFloat64; });
    constexpr RewriteClaim kEqual{.kind = RewriteClaim::Kind::kBound};  // zeros of either sign
    const bool tries_exactly = is_exact && is_float64 && trial.has_only_integers();
    const ValueStyle style = tries_exactly                               ? ValueStyle::kIntegers
                             : draw_.one_in(3)                           ? ValueStyle::kSmall
                             : claim_.kind == RewriteClaim::Kind::kBound ? ValueStyle::kFinite
                                                                         : ValueStyle::kSpecial;
    std::vector<Tensor> inputs;
    for (const Instance::Input& each : instance.inputs) {
      auto tensor = validate::draw_tensor(each.dtype, each.shape, style, claim_.largest, draw_);
      if (!tensor) return false;
      if (!inputs.empty() && draw_.one_in(3)) {
        validate::repeat_elements(*tensor, inputs.front(), draw_);
      }
      inputs.push_back(*std::move(tensor));
    }
    const RewriteClaim& claim = tries_exactly ? kEqual : claim_;
    const auto outcome = trial.run(inputs, claim);
    if (outcome == Trial::Outcome::kDiffers) return minimised(trial, inputs, claim);
    if (outcome == Trial::Outcome::kNotRun) {
      ++verdict_.stopped;
      coverage_->stop(instance);
      return false;
    }
    verdict_.exact += tries_exactly ? 1 : 0;
    note(trial, instance);
    return true;
  }

  void note(const Trial& trial, const Instance& instance) {
    coverage_->run(instance);
    ++verdict_.instances;
    verdict_.elements += trial.elements();
  }

  /// Puts 0, 1 or 2 in the place of each element that may have it and still refute the pattern.
  bool minimised(Trial& trial, std::span<const Tensor> inputs, const RewriteClaim& claim) {
    constexpr std::int64_t kMostElements = 64;
    std::vector<Tensor> least(inputs.begin(), inputs.end());
    Counterexample found = trial.take_counterexample();
    for (Tensor& tensor : least) {
      if (tensor.elements() > kMostElements) continue;
      for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        for (const double simple : {0.0, 1.0, 2.0}) {
          const Tensor kept = tensor;
          auto changed = validate::with_element(tensor, i, simple);
          if (!changed) continue;
          if (std::ranges::equal(changed->bytes(), kept.bytes())) break;
          tensor = *std::move(changed);
          if (trial.run(least, claim) == Trial::Outcome::kDiffers) {
            found = trial.take_counterexample();
            break;
          }
          tensor = kept;
        }
      }
    }
    verdict_.kind = PatternVerdict::Kind::kRefuted;
    verdict_.counterexample = std::move(found);
    return false;
  }

  ValidationOptions options_;
  validate::Draw draw_;
  IRContext* context_;
  std::shared_ptr<const Pattern> pattern_;
  RewriteClaim claim_;
  std::optional<Coverage> coverage_;
  PatternVerdict verdict_;
  std::uint64_t tries_ = 0;
  std::string last_reason_;
};

std::string_view claim_name(RewriteClaim::Kind kind) {
  switch (kind) {
    case RewriteClaim::Kind::kBits:
      return "bits";
    case RewriteClaim::Kind::kValue:
      return "value";
    case RewriteClaim::Kind::kBound:
      break;
  }
  return "bound";
}

/// "Int8 [2]: -128, 3" for each tensor, if there are few elements.
std::string listed(std::span<const Tensor> tensors) {
  constexpr std::int64_t kMost = 8;
  std::int64_t count = 0;
  for (const Tensor& each : tensors) count += each.elements();
  if (count > kMost) return "";
  std::vector<std::string> texts;
  for (const Tensor& each : tensors) {
    std::vector<std::string> values;
    for (std::int64_t i = 0; i < each.elements(); ++i) {
      values.push_back(validate::element_text(each, i));
    }
    texts.push_back(fmt::format("{} [{}]: {}", name_of(each.dtype()), fmt::join(each.shape(), ", "),
                                fmt::join(values, ", ")));
  }
  return fmt::format(", on {}", fmt::join(texts, "; "));
}

}  // namespace

std::vector<PatternVerdict> validate_patterns(const Module& module,
                                              const ValidationOptions& options) {
  std::vector<PatternVerdict> verdicts;
  for (const Op* op : module.body().only_block().ops()) {
    if (!op->is(OpId::kPatternRewrite)) continue;
    Diagnostics ignored;
    const auto variants = patterns::read_patterns(*op, ignored);
    ValidationOptions how = options;
    // The trials are those of all variants together, as far as each is decided.
    how.count = std::max(options.count / std::max<std::size_t>(variants.size(), 1),
                         std::min(options.count, kLeastInstances));
    for (const auto& each : variants) {
      verdicts.push_back(Validation(each, module.context(), how).validate());
    }
  }
  return verdicts;
}

namespace {

/// "; never drawn: types Int8, ranks 3 4"; empty if all was drawn.
std::string missing_text(const PatternVerdict& verdict) {
  std::string text;
  const auto add = [&](std::string_view what, const auto& list, std::string_view between) {
    if (list.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "; never drawn: " : ", ", what,
                        fmt::join(list, between));
  };
  std::vector<std::string_view> types;
  for (const DType dtype : verdict.missing_types) types.push_back(name_of(dtype));
  add("types", types, " ");
  add("ranks", verdict.missing_ranks, " ");
  add("branches", verdict.missing_branches, ", ");
  return text;
}

}  // namespace

std::string spelling(const PatternVerdict& verdict) {
  const std::string_view claim = claim_name(verdict.claim.kind);
  switch (verdict.kind) {
    case PatternVerdict::Kind::kUndecided:
      return fmt::format("pattern '{}' is undecided: {}{}", verdict.pattern, verdict.reason,
                         verdict.instances == 0 ? "" : missing_text(verdict));
    case PatternVerdict::Kind::kRefuted:
      return fmt::format("pattern '{}' does not keep '{}': {}{}", verdict.pattern, claim,
                         verdict.counterexample->difference,
                         listed(verdict.counterexample->inputs));
    case PatternVerdict::Kind::kKept:
      break;
  }
  std::string text = fmt::format("pattern '{}' keeps '{}': {} instances, {} elements",
                                 verdict.pattern, claim, verdict.instances, verdict.elements);
  if (verdict.claim.kind == RewriteClaim::Kind::kBound) {
    text += fmt::format(", finite inputs up to {}", verdict.claim.largest);
  }
  if (verdict.exact != 0) text += fmt::format(", {} exactly", verdict.exact);
  std::vector<std::string_view> whole;
  for (const DType dtype : verdict.whole) whole.push_back(name_of(dtype));
  if (!whole.empty()) text += fmt::format(", all values of {}", fmt::join(whole, " "));
  if (verdict.stopped != 0) text += fmt::format(", {} more stopped", verdict.stopped);
  return text + missing_text(verdict);
}

}  // namespace mir
