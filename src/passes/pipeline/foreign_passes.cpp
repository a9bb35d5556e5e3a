// Maps names of passes in MLIR and LLVM to the passes that do the same here.
#include "passes/pipeline/foreign_passes.hpp"

#include <algorithm>
#include <iterator>

namespace mir {

namespace {

struct ForeignName {
  std::string_view name, here;
};

constexpr ForeignName kNames[] = {
    {"adce", "eliminate-dead-ops"},
    {"algebraic-simplification", "simplify-algebra"},
    {"canonicalise", "canonicalize"},
    {"constant-fold", "fold-constants"},
    {"constant-folding", "fold-constants"},
    {"constprop", "fold-constants"},
    {"control-flow-sink", "sink"},
    {"convert-scf-to-cf", "structure-to-blocks"},
    {"dce", "eliminate-dead-ops"},
    {"early-cse", "cse"},
    {"fuse", "fusion-all"},
    {"fusion", "fusion-all"},
    {"generalise", "generalize"},
    {"globaldce", "eliminate-unused-graphs"},
    {"gvn", "cse"},
    {"inliner", "inline"},
    {"instcombine", "simplify"},
    {"licm", "hoist-invariants"},
    {"lift-cf-to-scf", "blocks-to-structure"},
    {"loop-invariant-code-motion", "hoist-invariants"},
    {"loop-unroll", "unroll-loops"},
    {"outliner", "outline"},
    {"quantise-weights", "quantize-weights"},
    {"quantize", "quantize-weights"},
    {"remove-dead-values", "eliminate-dead-ops"},
    {"sccp", "fold-constants"},
    {"scf-to-cf", "structure-to-blocks"},
    {"simplifycfg", "simplify-control-flow"},
    {"specialise", "specialize"},
    {"strip-debug", "strip-locations"},
    {"strip-debuginfo", "strip-locations"},
    {"symbol-dce", "eliminate-unused-graphs"},
    {"trivial-dce", "eliminate-dead-ops"},
};

}  // namespace

std::string_view pass_called_elsewhere(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &ForeignName::name);
  return found == std::end(kNames) ? std::string_view() : found->here;
}

}  // namespace mir
