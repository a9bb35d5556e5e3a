// The patterns of several passes, applied together.
#include <vector>

#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr std::string_view kPeepholeExample =
    R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%z:tensor<[3, 2], Float32, CPU>) {
    linalg.CPU.AddOp(%a:tensor<[1], Float32, CPU>[constant:[0.25]], %b:tensor<[1], Float32, CPU>[constant:[0.75]]) -> (%c:tensor<[1], Float32, CPU>)
    linalg.CPU.MulOp(%x, %c) -> (%y:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.TransposeOp [dim0:0, dim1:1] (%y) -> (%d:tensor<[3, 2], Float32, CPU>)
    linalg.CPU.ContiguousOp(%d) -> (%z:tensor<[3, 2], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";

}  // namespace

Pass peephole_pass(const PassRegistry& registry) {
  std::vector<decltype(Pass::patterns)> parts;
  for (const std::string_view name : {"simplify", "simplify-algebra", "simplify-shapes"}) {
    parts.push_back(registry.find(name)->patterns);
  }
  const Pass& fold = *registry.find("fold-constants");
  parts.push_back(fold.patterns);
  return pattern_pass({.name = "peephole",
                       .summary = "applies the patterns of `simplify`, `simplify-algebra`, "
                                  "`simplify-shapes` and `fold-constants` together",
                       .anchor = Anchor::kGraph,
                       .takes = PassForm::kPortable,
                       .is_idempotent = true,
                       .options = fold.options,
                       .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
                       .example = std::string(kPeepholeExample),
                       .patterns = [parts](IRContext& context, const PassOptions& options) {
                         PatternSet all;
                         for (const auto& part : parts) {
                           const PatternSet set = part(context, options);
                           for (const RewritePattern& each : set.patterns()) all.add(each);
                         }
                         return all;
                       }});
}

}  // namespace mir
