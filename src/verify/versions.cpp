#include <fmt/format.h>

#include "ir/declares_dialect.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

void versions(Reporter& reporter) {
  const Module& module = reporter.module();
  if (!module.is_portable() || module.version() >= 2 || !reporter.wants(ConstraintId::version_c1) ||
      !module.context().has_declared_dialects()) {
    return;
  }
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
