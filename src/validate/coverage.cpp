// Notes which types, ranks and branches the instances of a pattern had.
#include "validate/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/validate.hpp"

namespace mir::validate {

namespace {

/// Sides of the `||` of conditions, with the text of the condition that they are in.
void collect_sides(const patterns::Expression& expression, const std::string& text,
                   std::vector<std::pair<const patterns::Expression*, std::string>>& sides) {
  if (expression.kind == patterns::Expression::Kind::kOr) {
    for (std::size_t i = 0; i < expression.parts.size(); ++i) {
      const patterns::Expression& side = expression.parts[i];
      if (side.kind == patterns::Expression::Kind::kOr) continue;
      sides.emplace_back(&side, fmt::format("side {} of {}", sides.size() + 1, text));
    }
  }
  for (const patterns::Expression& part : expression.parts) collect_sides(part, text, sides);
}

}  // namespace

Coverage::Coverage(const patterns::Pattern& pattern, const InstanceDrawer& drawer) {
  for (std::uint32_t i = 0; i < pattern.match.input_count; ++i) {
    const patterns::TypeTemplate& type = pattern.match.values[i].type;
    has_open_type_ |= type.is_any || type.dtype.variable.has_value();
    has_open_rank_.push_back(
        type.is_any ||
        std::ranges::any_of(type.extents.elements, &patterns::AttributeTemplate::is_pack));
  }
  for (const patterns::Condition& each : pattern.conditions) {
    std::vector<std::pair<const patterns::Expression*, std::string>> sides;
    // The text is that of a condition, or a reason, that is not met.
    constexpr std::string_view kEnd = " does not hold";
    std::string text = each.text;
    if (text.ends_with(kEnd)) text.resize(text.size() - kEnd.size());
    collect_sides(each.expression, text, sides);
    sides_.insert(sides_.end(), sides.begin(), sides.end());
  }
  branches_ = drawer.possible_choices();
  for (const auto& side : sides_) branches_.push_back(side.second);
}

void Coverage::match(const Instance& instance, const patterns::Bindings& bindings,
                     IRContext& context) {
  matched_ = instance.choices;
  for (const auto& side : sides_) {
    if (patterns::holds(*side.first, bindings, context)) matched_.push_back(side.second);
  }
}

void Coverage::refuse(const Instance& instance) {
  for (const Instance::Input& each : instance.inputs) ++refused_[each.dtype];
}

void Coverage::run(const Instance& instance) {
  for (std::size_t i = 0; i < instance.inputs.size(); ++i) {
    types_.insert(instance.inputs[i].dtype);
    if (has_open_rank_[i]) ranks_.insert(instance.inputs[i].shape.size());
  }
  seen_.insert(matched_.begin(), matched_.end());
}

void Coverage::stop(const Instance& instance) {
  for (std::size_t i = 0; i < instance.inputs.size(); ++i) {
    if (has_open_rank_[i]) stopped_ranks_.insert(instance.inputs[i].shape.size());
  }
}

std::vector<DType> Coverage::missing_types() const {
  constexpr int kEnough = 2;
  std::vector<DType> missing;
  for (const DType each : InstanceDrawer::dtypes()) {
    const auto refused = refused_.find(each);
    const bool is_refused = refused != refused_.end() && refused->second >= kEnough;
    if (has_open_type_ && !is_refused && !types_.contains(each)) missing.push_back(each);
  }
  return missing;
}

std::vector<std::size_t> Coverage::missing_ranks() const {
  std::vector<std::size_t> missing;
  if (std::ranges::find(has_open_rank_, true) == has_open_rank_.end()) return missing;
  for (std::size_t rank = 0; rank <= PatternVerdict::kMostRank; ++rank) {
    if (!ranks_.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

std::vector<std::string> Coverage::missing_branches() const {
  std::vector<std::string> missing = branches_;
  std::erase_if(missing, [&](const std::string& each) { return seen_.contains(each); });
  return missing;
}

std::optional<DType> Coverage::next_type(std::uint64_t trial) {
  std::vector<DType> missing = missing_types();
  std::erase_if(missing, [&](DType each) { return tries_of_type_[each] >= kMostTries; });
  if (missing.empty() || trial % 2 == 0) return std::nullopt;
  const DType next = missing[trial / 2 % missing.size()];
  ++tries_of_type_[next];
  return next;
}

std::optional<std::size_t> Coverage::next_rank(std::uint64_t trial) {
  std::vector<std::size_t> missing = missing_ranks();
  std::erase_if(missing, [&](std::size_t each) { return tries_of_rank_[each] >= kMostTries; });
  if (missing.empty() || trial % 2 != 0) return std::nullopt;
  const std::size_t next = missing[trial / 2 % missing.size()];
  ++tries_of_rank_[next];
  return next;
}

bool Coverage::lacks_ranks(std::size_t least, std::uint64_t enough) const {
  if (ranks_.size() >= least) return false;
  return std::ranges::any_of(missing_ranks(), [&](std::size_t rank) {
    const auto tried = tries_of_rank_.find(rank);
    const std::uint64_t tries = tried == tries_of_rank_.end() ? 0 : tried->second;
    return stopped_ranks_.contains(rank) || tries < std::min(enough, kMostTries);
  });
}

}  // namespace mir::validate
