// Runs all checks on a module.
#include "mir/verify.hpp"

#include "verify/checks.hpp"
#include "verify/dump.hpp"
#include "verify/form.hpp"
#include "verify/op_checks.hpp"
#include "verify/quantisation.hpp"
#include "verify/ssa.hpp"
#include "verify/walk.hpp"

namespace mir {

bool verify(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options) {
  const std::size_t errors_before = diagnostics.error_count();
  checks::Reporter reporter(module, diagnostics, options);
  checks::Census census(module);
  checks::OpChecks ops(reporter);
  checks::UseChecks uses(reporter);
  checks::Quantisation quantisation(reporter);
  checks::FormChecks form(reporter);
  checks::DumpFindings dump(reporter);
  checks::walk(module.body(), census, ops, uses, quantisation, form, dump);
  checks::signatures(census, reporter);
  checks::blocks(census, reporter);
  checks::symbols(census, reporter);
  checks::bound_symbols(census, reporter);
  checks::declared_symbols(reporter);
  checks::calls(census, reporter);
  checks::caches(census, reporter);
  checks::program(census, reporter);
  checks::lifetime(census, reporter);
  checks::patterns(census, reporter);
  checks::versions(reporter);
  return diagnostics.error_count() == errors_before;
}

}  // namespace mir
