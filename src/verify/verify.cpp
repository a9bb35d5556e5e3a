#include "mir/verify/verify.hpp"

#include "checks.hpp"
#include "op_checks.hpp"

namespace mir {

bool verify(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options) {
  const std::size_t errors_before = diagnostics.error_count();
  checks::Reporter reporter(module, diagnostics, options);
  const checks::Census census(module);
  checks::OpChecks op_checks(reporter);
  checks::for_each_op(module.body(), [&](const Op& op) {
    const std::size_t before = reporter.breaches();
    op_checks.check(op);
    if (reporter.breaches() == before) checks::weights(op, reporter);
  });
  checks::signatures(census, reporter);
  checks::blocks(census, reporter);
  checks::ssa(reporter);
  checks::symbols(census, reporter);
  checks::calls(census, reporter);
  checks::program(census, reporter);
  checks::lifetime(census, reporter);
  if (census.has_recipes) checks::quantisation(reporter);
  checks::dump_findings(reporter);
  return diagnostics.error_count() == errors_before;
}

}  // namespace mir
