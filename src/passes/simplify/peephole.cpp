// The patterns of several passes, applied together.
#include <vector>

#include "passes/standard_passes.hpp"

namespace mir {

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
