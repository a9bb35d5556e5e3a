// Pattern sets indexed by root kind, and explanations of mismatches.
#include <fmt/format.h>

#include <algorithm>

#include "mir/rewrite_patterns.hpp"
#include "passes/rewrite/mismatch.hpp"

namespace mir {

bool RootKinds::admit(const OpKindInfo& kind) const {
  const bool is_named = names.empty() || std::ranges::find(names, kind.name) != names.end();
  if (!is_named || (traits == Trait::kNone && !must_fold)) return is_named;
  return kind.row != nullptr && has_all(kind.row->traits, traits) && (!must_fold || kind.row->fold);
}

FrozenPatterns::FrozenPatterns(PatternSet set)
    : patterns_(std::move(set.patterns_)), rank_(patterns_.size()) {
  for (const RewritePattern& each : patterns_) {
    labels_.push_back(fmt::format("'{}' applied", each.name));
  }
  std::vector<std::uint32_t> order(patterns_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t i) { return patterns_[i].benefit; });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) rank_[order[rank]] = rank;
  for (const std::uint32_t i : order) {
    const std::vector<std::string>& names = patterns_[i].roots.names;
    if (names.empty()) of_any_name_.push_back(i);
    for (const std::string& name : names) by_name_[name].push_back(i);
  }
}

std::vector<std::uint32_t> FrozenPatterns::with_root(const OpKindInfo& kind) const {
  std::vector<std::uint32_t> found;
  const auto add_admitted = [&](std::span<const std::uint32_t> list) {
    std::ranges::copy_if(list, std::back_inserter(found),
                         [&](std::uint32_t i) { return patterns_[i].roots.admit(kind); });
  };
  if (const auto named = by_name_.find(kind.name); named != by_name_.end()) {
    add_admitted(named->second);
  }
  const auto middle = static_cast<std::ptrdiff_t>(found.size());
  add_admitted(of_any_name_);
  std::ranges::inplace_merge(found, found.begin() + middle, {},
                             [&](std::uint32_t i) { return rank_[i]; });
  return found;
}

bool RewritePattern::declares(std::string_view kind) const {
  return std::ranges::any_of(makes, [&](std::string_view each) {
    return each == kind || each == kind.substr(0, kind.find('.'));
  });
}

PatternMismatch mismatch_of(const RewritePattern& pattern, const PatternMatch& match, Op& op) {
  PatternMismatch found{&pattern, std::string(match.condition()), match.failed_at()};
  if (pattern.explain) {
    found = pattern.explain(op);
    found.pattern = &pattern;
  }
  return found;
}

std::vector<PatternMismatch> mismatches(const FrozenPatterns& patterns, Op& op) {
  std::vector<PatternMismatch> found;
  for (const std::uint32_t number : patterns.with_root(op.info())) {
    const RewritePattern& pattern = patterns.patterns()[number];
    const PatternMatch match = pattern.match(op);
    if (!match) found.push_back(mismatch_of(pattern, match, op));
  }
  return found;
}

}  // namespace mir
