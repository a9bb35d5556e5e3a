// Gives a module a lower version, if it needs no higher one.
#include <string>

#include "ir/context/language_versions.hpp"
#include "passes/standard_passes.hpp"
#include "verify/lower_version.hpp"

namespace mir {

namespace {

PassResult target_version(PassRun& run) {
  Module& module = run.module();
  const std::int64_t version = module.version();
  if (!lower_version(module, run.options().integer("to"), run.diagnostics())) {
    return PassResult::kRefused;
  }
  if (module.version() != version) run.count("versions lowered");
  return run.result();
}

}  // namespace

Pass target_version_pass() {
  return {.name = "target-version",
          .summary = "gives modules a lower version; what needs the higher one is an error",
          .is_idempotent = true,
          .options = {{.name = "to",
                       .kind = PassOption::Kind::kInteger,
                       .by_default = std::to_string(kFirstVersion),
                       .summary = "the highest version that the result may have",
                       .least = kFirstVersion,
                       .most = kLatestVersion}},
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .run = target_version};
}

}  // namespace mir
