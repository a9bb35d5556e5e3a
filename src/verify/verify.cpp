#include "mir/verify/verify.hpp"

#include "checks.hpp"
#include "dump.hpp"
#include "op_checks.hpp"
#include "quantisation.hpp"
#include "ssa.hpp"
#include "walk.hpp"

namespace mir {

bool verify(const Module& module, Diagnostics& diagnostics, const VerifyOptions& options) {
  const std::size_t errors_before = diagnostics.error_count();
  checks::Reporter reporter(module, diagnostics, options);
  checks::Census census(module);
  checks::OpChecks ops(reporter);
  checks::UseChecks uses(reporter);
  checks::Quantisation quantisation(reporter);
  checks::DumpFindings dump(reporter);
  checks::walk(module.body(), census, ops, uses, quantisation, dump);
  checks::signatures(census, reporter);
  checks::blocks(census, reporter);
  checks::symbols(census, reporter);
  checks::calls(census, reporter);
  checks::program(census, reporter);
  checks::lifetime(census, reporter);
  return diagnostics.error_count() == errors_before;
}

}  // namespace mir
