// The tools of program `mllm`.
#pragma once

#include <functional>
#include <span>
#include <type_traits>

#include "tool.hpp"

namespace mir::tools {

/// A tool: its description and its main function.
struct Tool {
  const ToolInfo* info;
  int (*main)(int argc, char** argv);
  /// Passes its options to `visit`, without a command line.
  void (*show_options)(const ToolInfo& tool, const OptionVisitor& visit);
};

template <class Settings>
Settings settings_of(ExitCode (*body)(const Run& run, Settings& settings));

/// A tool that run_tool() runs.
template <const ToolInfo& kInfo, auto kBody>
constexpr Tool tool_of() {
  using Settings = std::remove_const_t<decltype(settings_of(kBody))>;
  return {&kInfo, [](int argc, char** argv) { return run_tool(kInfo, argc, argv, kBody); },
          show_options<Settings>};
}

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
