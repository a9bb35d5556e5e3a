// The tools of the installed program `mllm`.
#include "tools/tools.hpp"

namespace mir::tools {

namespace {

constexpr const Tool* kList[] = {
    &kMllmFmt,    &kMllmParse, &kMllmDiff,     &kMllmOpt, &kMllmInterp, &kMllmWeights, &kMllmPack,
    &kMllmReduce, &kMllmCheck, &kMllmTokenize, &kMllmLsp, &kMllmImport, &kMllmRun};

}  // namespace

const std::span<const Tool* const> kTools = kList;

}  // namespace mir::tools
