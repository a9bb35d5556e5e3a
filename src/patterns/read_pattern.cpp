// Reads `pattern.RewriteOp` as a pattern.
#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "patterns/check_types.hpp"
#include "patterns/pattern.hpp"
#include "patterns/read_template.hpp"
#include "patterns/short_form.hpp"
#include "patterns/variants.hpp"

namespace mir::patterns {

namespace {

/// The device of an op of a class that states none.
constexpr char kDevice = 'D';
constexpr std::string_view kAnyDevice(&kDevice, 1);

class PatternReader : TemplateReader {
 public:
  /// `version` is that of the module that states the pattern; `choice` names the variant.
  PatternReader(const Op& op, std::int64_t version, const Variant& variant, std::string choice,
                Diagnostics& diagnostics)
      : TemplateReader(op.module().context(), diagnostics,
                       {.code = diag::kBadPattern, .noun = "a pattern"}),
        op_(op),
        variant_(variant),
        choice_(std::move(choice)) {
    pattern_.version = version;
  }

  std::shared_ptr<const Pattern> read() {
    pattern_.name = op_.has_symbol() ? context_.text(op_.symbol()) : "";
    if (!pattern_.name.empty()) subject_ = fmt::format("pattern '{}'", pattern_.name);
    if (!choice_.empty()) pattern_.name += fmt::format(" ({})", choice_);
    pattern_.at = op_.span();
    if (op_.region_count() != 2) {
      refuse(op_.span(), "a pattern has two regions: what it matches and what it becomes");
      return nullptr;
    }
    if (!read_claim()) return nullptr;
    is_match_ = true;
    if (!read_graph(*op_.region(0), pattern_.match) ||
        !repeat_inputs(*op_.region(0), pattern_.match) || !check_match()) {
      return nullptr;
    }
    is_match_ = false;
    if (!read_lets(op_) || !read_conditions(op_)) return nullptr;
    if (!read_graph(*op_.region(1), pattern_.rewrite) ||
        !repeat_inputs(*op_.region(1), pattern_.rewrite) || !check_rewrite()) {
      return nullptr;
    }
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

  // -- variants ---------------------------------------------------------------------------------

  NamedOp named(const Op& op) override {
    const auto member = variant_.members.find(class_of(op.name()));
    if (member == variant_.members.end()) return TemplateReader::named(op);
    const OpKindInfo& info = context_.info(member->second);
    const std::string_view device = device_of_class(op.name());
    const bool has_device = info.dialect != nullptr && info.dialect->device_in_path;
    return {member->second, &info,
            has_device ? context_.intern(device.empty() ? kAnyDevice : device) : Symbol()};
  }

  bool takes_mark(const Value& value, const NamedAttr& mark) override {
    return value.is_argument() && context_.text(mark.key) == "many" &&
           mark.value->kind() == AttrKind::kBool;
  }
  std::uint32_t copies_of(const Value& value) override {
    const bool repeats = value.is_argument() && is_many(value, context_);
    return repeats ? static_cast<std::uint32_t>(variant_.many) : 1;
  }

  /// Puts as many inputs in the place of each input with `many` as the variant has.
  bool repeat_inputs(const Region& region, GraphTemplate& graph) {
    std::vector<bool> is_repeated(graph.values.size());
    for (const Value& input : region.entry()->arguments()) {
      is_repeated[input.index()] = is_many(input, context_);
    }
    if (std::ranges::find(is_repeated, true) == is_repeated.end()) return true;
    std::vector<std::vector<std::uint32_t>> copies(graph.values.size());
    std::vector<ValueTemplate> values;
    for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
      const bool repeats = is_repeated[i];
      const std::size_t count = repeats ? variant_.many : 1;
      for (std::size_t copy = 0; copy < count; ++copy) {
        copies[i].push_back(static_cast<std::uint32_t>(values.size()));
        values.push_back(graph.values[i]);
        if (repeats) values.back().name += fmt::format("_{}", copy);
      }
    }
    for (const std::uint32_t result : graph.results) {
      if (!is_repeated[result]) continue;
      return refuse(op_.span(), fmt::format("'%{}' stands for any number of values and cannot be "
                                            "a result",
                                            graph.values[result].name));
    }
    graph.input_count += values.size() - graph.values.size();
    graph.values = std::move(values);
    const auto renumber = [&](std::vector<std::uint32_t>& list) {
      std::vector<std::uint32_t> renumbered;
      for (const std::uint32_t each : list) {
        renumbered.insert(renumbered.end(), copies[each].begin(), copies[each].end());
      }
      list = std::move(renumbered);
    };
    for (OpTemplate& op : graph.ops) {
      renumber(op.operands);
      renumber(op.results);
    }
    renumber(graph.results);
    return true;
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
  const Variant& variant_;
  std::string choice_;
  Pattern pattern_;
};

}  // namespace

namespace {

/// All variants of a pattern in its long form.
std::vector<std::shared_ptr<const Pattern>> read_variants(const Op& op, std::int64_t version,
                                                          Diagnostics& diagnostics) {
  std::vector<std::shared_ptr<const Pattern>> patterns;
  const auto variants = variants_of(op, diagnostics);
  if (!variants) return patterns;
  const IRContext& context = op.module().context();
  std::optional<Diagnostics> first_problems;
  for (const Variant& each : variants->list) {
    Diagnostics found;
    auto pattern =
        PatternReader(op, version, each, text_of(each, *variants, context), found).read();
    if (pattern == nullptr && !first_problems) first_problems = std::move(found);
    if (pattern != nullptr) patterns.push_back(std::move(pattern));
  }
  if (first_problems && (patterns.empty() || variants->are_listed)) {
    patterns.clear();
    diagnostics.append(std::move(*first_problems));
  }
  return patterns;
}

}  // namespace

std::vector<std::shared_ptr<const Pattern>> read_patterns(const Op& op, Diagnostics& diagnostics) {
  const std::int64_t version = op.module().version();
  if (!is_short_form(op)) return read_variants(op, version, diagnostics);
  const std::unique_ptr<Module> module = long_form(op, diagnostics);
  if (module == nullptr) return {};
  return read_variants(*module->body().entry()->front(), version, diagnostics);
}

std::shared_ptr<const Pattern> read_pattern(const Op& op, Diagnostics& diagnostics) {
  const auto all = read_patterns(op, diagnostics);
  return all.empty() ? nullptr : all.front();
}

}  // namespace mir::patterns
