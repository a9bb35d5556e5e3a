#include "verify/ssa.hpp"

namespace mir::checks {

namespace {

const Region* home_of(const Value& value) {
  if (value.is_argument()) return value.argument_of()->parent();
  return value.is_free() ? value.free_in() : value.defining_op()->parent_region();
}

/// Whether `op` stands in region `home`, or inside it with no isolated op between.
bool sees(const Region* home, const Op& op) {
  for (const Op* at = &op; at != nullptr && home != nullptr; at = at->parent_op()) {
    if (at->parent_region() == home) return true;
    const Op* around = at->parent_op();
    if (around != nullptr && around->has(Trait::kIsolated)) return false;
  }
  return false;
}

void check_use(const Use& use, const Op& op, const Dominance& dominance, Reporter& reporter) {
  const Value& value = *use.value();
  if (!sees(home_of(value), op)) {
    reporter.report(ConstraintId::ssa_c3, op, [&] {
      return fmt::format("operand {} of '{}' belongs to a region that is not seen from here",
                         use.index(), op.name());
    });
    return;
  }
  if (dominance.dominates(value, op)) return;
  const Op* definition = value.defining_op();
  const Block* home = definition != nullptr ? definition->block() : value.argument_of();
  const Op* user = &op;
  while (user->parent_region() != home->parent()) user = user->parent_op();
  if (user->block() == home) {
    note(reporter.report(ConstraintId::ssa_c1, op,
                         [&] {
                           return fmt::format("operand {} of '{}' is defined below its use",
                                              use.index(), op.name());
                         }),
         *definition, "defined here");
    return;
  }
  Diagnostic* kept = reporter.report(ConstraintId::ssa_c2, op, [&] {
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
