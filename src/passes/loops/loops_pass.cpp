// The pass `loops`: generic ops become kernels of nests over buffers.
#include <fmt/format.h>

#include "mir/codes/passes.hpp"
#include "passes/loops/lower_generic.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

PassResult lower_to_loops(PassRun& run) {
  Op& generic = run.anchor();
  const std::string why = why_no_kernel(generic);
  if (!why.empty()) {
    run.diagnostics().error(diag::kIllegalStep, generic.span(),
                            fmt::format("the op is not lowered to loops: {}", why));
    return PassResult::kFailed;
  }
  Rewriter rewriter(run.module());
  Op& kernel = lower_generic(rewriter, generic);
  for (std::uint32_t i = 0; i < generic.result_count(); ++i) {
    const ValueName name = generic.result(i)->name();
    rewriter.set_name(*generic.result(i), kernel.result(i)->name());
    rewriter.set_name(*kernel.result(i), name);
  }
  rewriter.replace(generic, kernel);
  run.count("ops lowered");
  return run.result();
}

}  // namespace

Pass loops_pass() {
  return {.name = "loops",
          .summary = "lowers generic ops to nests of loops that read and write buffers",
          .anchor = Anchor::kOp,
          .op = "linalg.GenericOp",
          .takes = PassForm::kPortable,
          .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
          .run = lower_to_loops};
}

}  // namespace mir
