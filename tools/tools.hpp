// The tools of program `mllm`.
#pragma once

#include <span>

#include "option_pages.hpp"

namespace mir::tools {

/// A tool: its description and its main function.
struct Tool {
  const ToolInfo* info;
  int (*main)(int argc, char** argv);
};

extern const Tool kMllmCheck;
extern const Tool kMllmDiff;
extern const Tool kMllmFmt;
extern const Tool kMllmImport;
extern const Tool kMllmInterp;
extern const Tool kMllmLsp;
extern const Tool kMllmOpt;
extern const Tool kMllmPack;
extern const Tool kMllmParse;
extern const Tool kMllmReduce;
extern const Tool kMllmRun;
extern const Tool kMllmTokenize;
extern const Tool kMllmWeights;

/// The tools of this program in the order of its help. `all_tools.cpp` has those of the installed
/// `mllm`, `demo/few_tools.cpp` those that `scripts/demo` builds.
extern const std::span<const Tool* const> kTools;

}  // namespace mir::tools
