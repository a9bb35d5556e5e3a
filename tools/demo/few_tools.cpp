// The tools of the program that `scripts/demo` builds. It leaves out the libraries of the other
// tools.
#include "tools/tools.hpp"

namespace mir::tools {

namespace {

constexpr const Tool* kList[] = {&kMllmFmt, &kMllmParse, &kMllmInterp, &kMllmRun};

}  // namespace

const std::span<const Tool* const> kTools = kList;

}  // namespace mir::tools
