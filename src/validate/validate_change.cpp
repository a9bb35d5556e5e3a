// Runs two modules on random inputs and compares the results under a claim.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/declares_dialect.hpp"
#include "ir/symbol_declarations.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/limits.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/validate.hpp"
#include "validate/run_module.hpp"
#include "validate/validate_claim.hpp"
#include "validate/values.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

/// Both modules, ready to run.
class Pair {
 public:
  /// Results keep `claim`, else they are equal within `bound`.
  Pair(const Module& before, const Module& after, const ValidationOptions& options,
       std::optional<double> bound, const RewriteClaim* claim = nullptr)
      : before_(before),
        after_(after),
        options_(options),
        bound_(bound),
        claim_(claim),
        draw_(options.seed) {}

  ChangeVerdict compare() {
    constexpr std::uint64_t kTriesForOne = 20;
    if (!create()) return std::move(verdict_);
    constexpr std::uint64_t kMostLimited = 3;
    const std::uint64_t most = kTriesForOne * options_.count;
    for (; tries_ < most && verdict_.runs < options_.count && limited_runs_ < kMostLimited;
         ++tries_) {
      if (!run_once(tries_ % 2 == 0)) return std::move(verdict_);
    }
    const std::uint64_t least = std::min(options_.count, kLeastRuns);
    if (verdict_.runs == 0) {
      undecided("no run before the passes succeeds: " + last_error_);
    } else if (verdict_.runs < least) {
      undecided(
          fmt::format("only {} of {} runs before the passes succeed, expected at least {}: {}",
                      verdict_.runs, tries_, least, last_error_));
    } else if (verdict_.elements == 0) {
      undecided("no result has an element to compare");
    }
    return std::move(verdict_);
  }

 private:
  void undecided(std::string reason) {
    verdict_.kind = PatternVerdict::Kind::kUndecided;
    verdict_.reason = std::move(reason);
  }

  static std::string first_error(const Diagnostics& found) {
    const auto all = found.sorted();
    return all.empty() ? "it cannot run" : all.front().message;
  }

  /// False after a verdict.
  bool create() {
    WeightSet weights;
    if (const auto added = weights.add(fmt::format("random:{}", options_.seed)); !added) {
      undecided(added.error().message);
      return false;
    }
    Diagnostics found(1);
    SessionOptions how;
    how.weights = &weights;
    first_ = Session::create(before_, how, found);
    if (!first_) {
      undecided(first_error(found));
      return false;
    }
    second_ = Session::create(after_, how, found);
    if (second_) return true;
    differs({}, {}, {}, "the module cannot run after the passes: " + first_error(found));
    return false;
  }

  void differs(std::vector<Tensor> inputs, std::vector<Tensor> expected, std::vector<Tensor> actual,
               std::string difference) {
    verdict_.kind = PatternVerdict::Kind::kRefuted;
    verdict_.counterexample =
        Counterexample{.before = print(before_),
                       .after = print(after_),
                       .dialects = text_of_declared_dialects(before_.context()),
                       .inputs = std::move(inputs),
                       .expected = std::move(expected),
                       .actual = std::move(actual),
                       .difference = std::move(difference)};
  }

  /// Binds symbols of inputs whose extents are numbers after the passes.
  void bind_fixed_extents(DimBindings& bindings) const {
    const DimTable& dims = before_.context().dims();
    const auto &before = first_->inputs(), &after = second_->inputs();
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i].type == nullptr || after[i].type == nullptr) continue;
      const auto from = before[i].type->dims(), to = after[i].type->dims();
      for (std::size_t dim = 0; dim < std::min(from.size(), to.size()); ++dim) {
        if (!from[dim].is_symbolic() || !to[dim].is_constant()) continue;
        const auto solved = dims.solve(from[dim], to[dim].constant(), bindings);
        if (solved) bindings.bind(solved->first, solved->second);
      }
    }
  }

  /// Values that the declarations and relations of the module admit, if some are found soon.
  DimBindings draw_extents() {
    const SymbolDeclarations declarations = symbol_declarations(before_);
    DimBindings bindings = draw_any_extents();
    constexpr int kMostTries = 16;
    for (int i = 0; i < kMostTries && !declarations.admit(bindings, before_.context().dims());
         ++i) {
      bindings = draw_any_extents();
    }
    return bindings;
  }

  DimBindings draw_any_extents() {
    constexpr std::array<std::int64_t, 6> kExtents = {1, 2, 3, 4, 5, 8};
    DimBindings bindings;
    bind_fixed_extents(bindings);
    for (const Port& port : first_->inputs()) {
      for_each_symbol_of(port.type, before_.context().dims(), [&](Symbol symbol) {
        if (!bindings.find(symbol)) bindings.bind(symbol, draw_.one_of(kExtents));
      });
    }
    const DimBindings cached = first_->cache_bindings();
    for (const auto& [symbol, length] : cached.entries()) bindings.bind(symbol, length);
    if (!binds_all_symbols_) return bindings;
    for (const std::string& name : extent_symbols(before_)) {
      const Symbol symbol = before_.context().intern(name);
      if (!bindings.find(symbol)) bindings.bind(symbol, draw_.one_of(kExtents));
    }
    return bindings;
  }

  /// Random inputs; those of floating-point numbers are special ones now and then.
  std::optional<std::vector<Tensor>> draw_inputs(const DimBindings& dims) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < first_->inputs().size(); ++i) {
      arguments.push_back(fmt::format("{}=random:{}", i, draw_.below(1'000'000)));
    }
    InputDefaults defaults;
    defaults.unknown_extent = [this] { return static_cast<std::int64_t>(draw_.below(5)); };
    auto inputs = load_inputs(*first_, arguments, dims, {}, defaults);
    if (!inputs) {
      last_error_ = inputs.error().message;
      return std::nullopt;
    }
    const auto style = draw_style();
    for (Tensor& input : *inputs) {
      if (!style || !is_float(input.dtype())) continue;
      auto drawn = validate::draw_tensor(input.dtype(), input.shape(), *style, largest(), draw_);
      if (drawn) input = *std::move(drawn);
      if (input.dtype() == inputs->front().dtype() && draw_.one_in(4)) {
        validate::repeat_elements(input, inputs->front(), draw_);
      }
    }
    return *std::move(inputs);
  }

  /// Chooses the distribution of floating-point inputs. No value for that of a tool's random
  /// inputs.
  std::optional<validate::ValueStyle> draw_style() {
    using validate::ValueStyle;
    const bool is_finite =
        bound_ || (claim_ != nullptr && claim_->kind == RewriteClaim::Kind::kBound);
    if (draw_.one_in(3)) return is_finite ? ValueStyle::kFinite : ValueStyle::kSpecial;
    return claim_ != nullptr && draw_.one_in(2) ? std::optional(ValueStyle::kSmall) : std::nullopt;
  }

  double largest() const {
    const bool is_stated = claim_ != nullptr && std::isfinite(claim_->largest);
    return is_stated ? claim_->largest : validate::kUsualLargest;
  }

  /// Returns the claim that the results of a run must satisfy.
  RewriteClaim claim_for(std::span<const Tensor> expected) const {
    if (claim_ != nullptr) return *claim_;
    if (!bound_) return {.kind = RewriteClaim::Kind::kValue};
    double largest = 0;
    for (const Tensor& each : expected) {
      if (!is_float(each.dtype())) continue;
      for (std::int64_t i = 0; i < each.elements(); ++i) {
        const double value = std::abs(element_as_double(each, i));
        if (std::isfinite(value)) largest = std::max(largest, value);
      }
    }
    return {.kind = RewriteClaim::Kind::kBound, .absolute = *bound_ * largest};
  }

  /// False after a difference.
  bool run_once(bool is_fresh) {
    if (is_fresh) {
      first_->reset();
      second_->reset();
    }
    const DimBindings dims = draw_extents();
    const auto inputs = draw_inputs(dims);
    if (!inputs) return true;
    Diagnostics found(1);
    RunOptions how;
    how.dims = dims;
    how.most_iterations = validate::kMostIterations;
    auto expected = first_->run(*inputs, found, how);
    if (!expected) {
      last_error_ = first_error(found);
      const auto errors = found.sorted();
      const DiagCode code = errors.empty() ? diag::kLimitExceeded : errors.front().code;
      if (!errors.empty() && code == diag::kLimitExceeded) ++limited_runs_;
      // A symbol that only other ops of a larger module would find.
      if (code == diag::kSymbolUnbound) binds_all_symbols_ = true;
      if (code != diag::kSymbolUnbound && code != diag::kLimitExceeded) {
        Diagnostics after(1);
        ++(second_->run(*inputs, after, how) ? verdict_.stopped_once : verdict_.stopped);
      }
      second_->reset();
      first_->reset();
      return true;
    }
    // Passes may change how often a loop iterates.
    how.most_iterations = 10 * validate::kMostIterations;
    auto actual = second_->run(*inputs, found, how);
    if (!actual) {
      differs(*inputs, *std::move(expected), {},
              "the run fails after the passes: " + first_error(found));
      return false;
    }
    ++verdict_.runs;
    const RewriteClaim claim = claim_for(*expected);
    verdict_.elements += validate::compared_elements(*expected, claim);
    const auto difference = validate::difference(*expected, *actual, claim);
    if (difference) differs(*inputs, *std::move(expected), *std::move(actual), difference->text);
    return !difference;
  }

  const Module &before_, &after_;
  const ValidationOptions& options_;
  std::optional<double> bound_;
  const RewriteClaim* claim_;
  validate::Draw draw_;
  std::optional<Session> first_, second_;
  std::string last_error_;
  bool binds_all_symbols_ = false;
  std::uint64_t tries_ = 0;
  std::uint64_t limited_runs_ = 0;  // before the passes, which reached a limit
  ChangeVerdict verdict_;
};

}  // namespace

ChangeVerdict validate_change(const Module& before, const Module& after,
                              const ValidationOptions& options, std::optional<double> bound) {
  return Pair(before, after, options, bound).compare();
}

ChangeVerdict validate::validate_claim(const Module& before, const Module& after,
                                       const RewriteClaim& claim,
                                       const ValidationOptions& options) {
  return Pair(before, after, options, std::nullopt, &claim).compare();
}

}  // namespace mir
