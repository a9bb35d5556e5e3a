#include <fmt/format.h>

#include <unordered_set>

#include "ir/declares_dialect.hpp"
#include "ir/extent_walk.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// Extents with a minimum or maximum, each where it is met first.
void extents(const Module& module, Reporter& reporter) {
  std::unordered_set<const DimExpr*> seen;
  for_each_extent(module, [&](Dim extent, const Op& place) {
    if (!has_extremum(extent) || !seen.insert(extent.expr()).second) return;
    reporter.report(ConstraintId::version_c1, place, [&] {
      return fmt::format("extent {} has a minimum or a maximum, so the module needs mir_version:2",
                         module.context().dims().print(extent));
    });
  });
}

}  // namespace

void versions(Reporter& reporter) {
  const Module& module = reporter.module();
  if (!module.is_portable() || module.version() >= 2 || !reporter.wants(ConstraintId::version_c1)) {
    return;
  }
  if (module.context().dims().has_extrema()) extents(module, reporter);
  if (!module.context().has_declared_dialects()) return;
  const auto report = [&](std::string_view what, const Op& place) {
    reporter.report(ConstraintId::version_c1, place, [&] {
      return fmt::format(
          "{} is of a dialect that a text declares, so the module needs mir_version:2", what);
    });
  };
  for_each_op(module.body(), [&](const Op& op) {
    if (is_declared(op.info().dialect)) report(fmt::format("'{}'", op.name()), op);
  });
  for_each_value(module.body(), [&](const Value& value, const Op& place) {
    const auto* type = dyn_cast<DialectType>(value.type());
    if (type != nullptr && is_declared(type->kind().dialect)) report(type->spelling(), place);
  });
}

}  // namespace mir::checks
