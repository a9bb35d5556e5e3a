// Checks that definitions dominate uses.
#include "verify/ssa.hpp"

namespace mir::checks {

namespace {

const Region* home_of(const Value& value) {
  if (value.is_argument()) return value.argument_of()->parent();
  return value.is_free() ? value.free_in() : value.defining_op()->parent_region();
}

void check_use(const Use& use, const Op& op, const Dominance& dominance, Reporter& reporter) {
  const Value& value = *use.value();
  const MentionPlace place{use.index()};
  const Region* home_region = home_of(value);
  if (home_region == nullptr || !op.parent_region()->sees(*home_region)) {
    reporter.report_at(ConstraintId::ssa_c3, op, place, [&] {
      return fmt::format("operand {} of '{}' belongs to a region that is not seen from here",
                         use.index(), op.name());
    });
    return;
  }
  if (dominance.dominates(value, op)) return;
  const Op* definition = value.defining_op();
  const Block* home = definition != nullptr ? definition->block() : value.argument_of();
  if (op.ancestor_in(*home->parent())->block() == home) {
    note(reporter.report_at(ConstraintId::ssa_c1, op, place,
                            [&] {
                              return fmt::format("operand {} of '{}' is defined below its use",
                                                 use.index(), op.name());
                            }),
         *definition, "defined here");
    return;
  }
  Diagnostic* kept = reporter.report_at(ConstraintId::ssa_c2, op, place, [&] {
    return fmt::format("operand {} of '{}' is not defined on every path that leads here",
                       use.index(), op.name());
  });
  if (definition != nullptr) note(kept, *definition, "defined here");
}

}  // namespace

void UseChecks::check(const Use& use, const Op& op) {
  check_use(use, op, dominances_.around(*op.parent_region()), reporter_);
}

}  // namespace mir::checks
