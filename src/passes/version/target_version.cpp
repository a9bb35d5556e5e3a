// Gives a module a lower version, if it needs no higher one.
#include "mir/rewriter.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Verification after the pass names what the version does not have.
PassResult target_version(PassRun& run) {
  Module& module = run.module();
  const std::int64_t to = run.options().integer("to");
  if (!module.is_portable() || module.version() <= to) return run.result();
  Rewriter(module).set_version(to);
  run.count("versions lowered");
  return run.result();
}

constexpr std::string_view kNeedsLess =
    R"(@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

}  // namespace

Pass target_version_pass() {
  return {.name = "target-version",
          .summary = "gives modules a lower version; what needs the higher one is an error",
          .is_idempotent = true,
          .options = {{.name = "to",
                       .kind = PassOption::Kind::kInteger,
                       .by_default = "1",
                       .summary = "the highest version that the result may have",
                       .least = 1,
                       .most = 2}},
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .example = std::string(kNeedsLess),
          .run = target_version};
}

}  // namespace mir
