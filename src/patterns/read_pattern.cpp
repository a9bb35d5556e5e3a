// Reads `pattern.RewriteOp` as a pattern.
#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "patterns/check_types.hpp"
#include "patterns/pattern.hpp"
#include "patterns/read_template.hpp"
#include "patterns/short_form.hpp"

namespace mir::patterns {

namespace {

class PatternReader : TemplateReader {
 public:
  PatternReader(const Op& op, Diagnostics& diagnostics)
      : TemplateReader(op.module().context(), diagnostics,
                       {.code = diag::kBadPattern, .noun = "a pattern"}),
        op_(op) {}

  std::shared_ptr<const Pattern> read() {
    pattern_.name = op_.has_symbol() ? context_.text(op_.symbol()) : "";
    if (!pattern_.name.empty()) subject_ = fmt::format("pattern '{}'", pattern_.name);
    pattern_.at = op_.span();
    if (op_.region_count() != 2) {
      refuse(op_.span(), "a pattern has two regions: what it matches and what it becomes");
      return nullptr;
    }
    if (!read_claim()) return nullptr;
    is_match_ = true;
    if (!read_graph(*op_.region(0), pattern_.match) || !check_match()) return nullptr;
    is_match_ = false;
    if (!read_lets(op_) || !read_conditions(op_)) return nullptr;
    if (!read_graph(*op_.region(1), pattern_.rewrite) || !check_rewrite()) return nullptr;
    pattern_.variables = std::move(variables_);
    pattern_.lets = std::move(lets_);
    pattern_.conditions = std::move(conditions_);
    if (!check_types(pattern_, context_, diagnostics_)) return nullptr;
    return std::make_shared<const Pattern>(std::move(pattern_));
  }

 private:
  std::optional<std::uint32_t> value(std::string_view name) override {
    const auto& values = pattern_.match.values;
    const auto found = std::ranges::find(values, name, &ValueTemplate::name);
    if (found == values.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - values.begin());
  }

  // -- what the op states -----------------------------------------------------------------------

  bool read_claim() {
    const auto number = [&](std::string_view key) {
      const Attr* stated = op_.attribute(key);
      return stated == nullptr ? 0.0 : stated->number();
    };
    const Attr* benefit = op_.attribute(key::kBenefit);
    if (benefit != nullptr) pattern_.benefit = static_cast<unsigned>(benefit->integer());
    const Attr* claim = op_.attribute(key::kClaim);
    pattern_.claim = claim == nullptr ? "bits" : claim->text();
    pattern_.relative = number(key::kRelative);
    pattern_.absolute = number(key::kAbsolute);
    pattern_.largest = number(key::kLargest);
    const bool has_bound = pattern_.relative > 0 || pattern_.absolute > 0;
    if (has_bound != (pattern_.claim == "bound")) {
      return refuse(op_.span(),
                    "claim:bound and a bound, which is relative or absolute, belong "
                    "together");
    }
    return true;
  }

  // -- a region as a whole ------------------------------------------------------------------------

  bool check_match() {
    GraphTemplate& match = pattern_.match;
    if (match.ops.empty()) return refuse(op_.span(), "the first region has no operation to match");
    std::vector<bool> is_used(match.values.size());
    for (const OpTemplate& op : match.ops) {
      for (const std::uint32_t value : op.operands) is_used[value] = true;
    }
    for (std::size_t i = 0; i < match.input_count; ++i) {
      if (is_used[i]) continue;
      return refuse(op_.span(),
                    fmt::format("input '%{}' of the first region is used by no operation",
                                match.values[i].name));
    }
    for (const std::uint32_t result : match.results) {
      if (match.values[result].op != ValueTemplate::kNone) continue;
      return refuse(op_.span(), "the first region returns what an operation of it defines");
    }
    for (std::size_t i = 0; i < match.results.size(); ++i) {
      const std::span<const std::uint32_t> others = std::span(match.results).first(i);
      if (std::ranges::find(others, match.results[i]) == others.end()) continue;
      return refuse(op_.span(), "the first region returns a value twice");
    }
    if (match.results.empty()) return refuse(op_.span(), "a pattern replaces at least one value");
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (is_bound_[i]) continue;
      return refuse(op_.span(), fmt::format("nothing binds '{}': it stands only in expressions",
                                            variables_[i]));
    }
    // An operand that is a constant differs from the other one at once.
    const auto has_two_orders = [&](const OpTemplate& op) {
      return op.is_commutative && std::ranges::none_of(op.operands, [&](std::uint32_t operand) {
               return match.values[operand].constant.has_value();
             });
    };
    constexpr std::ptrdiff_t kMostCommutative = 5;
    if (std::ranges::count_if(match.ops, has_two_orders) > kMostCommutative) {
      return refuse(op_.span(), fmt::format("more than {} commutative operations without a "
                                            "constant have too many orders to try",
                                            kMostCommutative));
    }
    return plan_steps();
  }

  bool check_rewrite() {
    const GraphTemplate &match = pattern_.match, &rewrite = pattern_.rewrite;
    if (match.input_count != rewrite.input_count ||
        match.results.size() != rewrite.results.size()) {
      return refuse(op_.span(), fmt::format("the first region has {} inputs and {} results, the "
                                            "second one {} and {}",
                                            match.input_count, match.results.size(),
                                            rewrite.input_count, rewrite.results.size()));
    }
    for (const ValueTemplate& value : rewrite.values) {
      if (!value.constant || !value.type.is_any) continue;
      return refuse(op_.span(),
                    fmt::format("constant '%{}' of the second region needs a type", value.name));
    }
    return true;
  }

  // -- the order in which ops are matched -------------------------------------------------------

  bool plan_steps() {
    const GraphTemplate& match = pattern_.match;
    std::vector<bool> is_placed(match.ops.size()), is_bound(match.values.size());
    const auto place = [&](MatchStep step) {
      pattern_.steps.push_back(step);
      is_placed[step.op] = true;
      for (const std::uint32_t value : match.ops[step.op].operands) is_bound[value] = true;
      for (const std::uint32_t value : match.ops[step.op].results) is_bound[value] = true;
    };
    // Values are used below their definitions, so no other op can lead to all.
    place({.op = static_cast<std::uint32_t>(match.ops.size() - 1)});
    while (pattern_.steps.size() < match.ops.size()) {
      const auto step = next_step(is_placed, is_bound);
      if (!step) return refuse(op_.span(), "the operations of the first region are not connected");
      place(*step);
    }
    return true;
  }

  std::optional<MatchStep> next_step(const std::vector<bool>& is_placed,
                                     const std::vector<bool>& is_bound) const {
    const GraphTemplate& match = pattern_.match;
    for (auto op = static_cast<std::uint32_t>(match.ops.size()); op-- > 0;) {
      if (is_placed[op]) continue;
      for (const std::uint32_t value : match.ops[op].results) {
        if (!is_bound[value]) continue;
        return MatchStep{.op = op, .way = MatchStep::Way::kDefinition, .value = value};
      }
    }
    for (std::uint32_t op = 0; op < match.ops.size(); ++op) {
      if (is_placed[op]) continue;
      for (std::uint32_t i = 0; i < match.ops[op].operands.size(); ++i) {
        const std::uint32_t value = match.ops[op].operands[i];
        if (!is_bound[value] || match.values[value].constant) continue;
        return MatchStep{.op = op, .way = MatchStep::Way::kUser, .value = value, .operand = i};
      }
    }
    return std::nullopt;
  }

  const Op& op_;
  Pattern pattern_;
};

}  // namespace

std::shared_ptr<const Pattern> read_pattern(const Op& op, Diagnostics& diagnostics) {
  if (!is_short_form(op)) return PatternReader(op, diagnostics).read();
  const std::unique_ptr<Module> module = long_form(op, diagnostics);
  if (module == nullptr) return nullptr;
  return PatternReader(*module->body().entry()->front(), diagnostics).read();
}

}  // namespace mir::patterns
