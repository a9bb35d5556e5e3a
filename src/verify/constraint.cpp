// The table of constraints, their groups, and policies that change verdicts.
#include "verify/constraint.hpp"

#include <algorithm>
#include <array>

#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/passes.hpp"
#include "mir/codes/quantisation.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/codes/weights.hpp"

namespace mir {

namespace {

using enum CheckGroup;
using enum CheckScope;
using enum Verdict;

constexpr Constraint kConstraints[] = {
#define MIR_CONSTRAINT(id, code, group, dump, portable, scope) \
  {#id, diag::code, group, dump, portable, scope},
#include "verify/constraints.def"
#undef MIR_CONSTRAINT
};

constexpr std::array<std::string_view, 11> kGroups = {
    "structure", "attributes", "ssa",      "types",        "shapes", "calls",
    "weights",   "program",    "lifetime", "quantisation", "dump"};
static_assert(kGroups.size() == static_cast<std::size_t>(kDump) + 1);

bool fits(std::string_view selector, const Constraint& constraint) {
  return selector == constraint.id || selector == name_of(constraint.group) ||
         selector == spelling(constraint.code);
}

}  // namespace

std::string_view name_of(CheckGroup group) {
  return kGroups[static_cast<std::size_t>(group)];
}

std::span<const std::string_view> check_group_names() {
  return kGroups;
}

std::span<const Constraint, kConstraintCount> constraints() {
  return kConstraints;
}

bool CheckPolicy::add(std::string_view selector, bool deny) {
  const bool known =
      std::ranges::find(kGroups, selector) != kGroups.end() ||
      std::ranges::any_of(kConstraints,
                          [&](const Constraint& each) { return fits(selector, each); }) ||
      std::ranges::any_of(diagnostic_codes(), [&](const DiagCodeInfo& each) {
        const int number = static_cast<int>(each.code);
        const bool is_rule = number >= 500 && number < 550;
        return (is_rule || each.code == diag::kLostMeaning) && selector == spelling(each.code);
      });
  if (known) changes_.push_back({std::string(selector), deny});
  return known;
}

Verdict CheckPolicy::apply(const Constraint& constraint, Verdict verdict) const {
  const Verdict given = verdict;
  for (const Change& change : changes_) {
    if (!fits(change.selector, constraint)) continue;
    verdict = change.deny ? kError : given == kError ? kFinding : kOff;
  }
  return verdict;
}

bool CheckPolicy::shows_losses() const {
  const Constraint losses{.code = diag::kLostMeaning, .group = kDump};
  return apply(losses, kFinding) != kOff;
}

namespace {

constexpr std::size_t kCodes =
    static_cast<std::size_t>(std::ranges::max(kConstraints, {}, &Constraint::code).code) + 1;

constexpr std::array<CheckScope, kCodes> kScopes = [] {
  std::array<CheckScope, kCodes> scopes{};
  for (const Constraint& each : kConstraints) {
    CheckScope& scope = scopes[static_cast<std::size_t>(each.code)];
    scope = std::max(scope, each.scope);
  }
  // Suggestions for aliases are limited over all of the text, and types come from other graphs.
  scopes[static_cast<std::size_t>(diag::kUnknownAlias)] = kModule;
  scopes[static_cast<std::size_t>(diag::kTypeMissing)] = kModule;
  return scopes;
}();

}  // namespace

CheckScope scope_of(DiagCode code) {
  const auto number = static_cast<std::size_t>(code);
  return number < kCodes ? kScopes[number] : kGraph;
}

bool is_usual_in_dumps(DiagCode code) {
  bool has_constraint = false;
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    const Constraint& each = constraints()[i];
    if (each.code != code) continue;
    if (each.group != CheckGroup::kDump && i != static_cast<std::size_t>(ConstraintId::free_c4))
      return false;
    has_constraint = true;
  }
  return has_constraint;
}

}  // namespace mir
