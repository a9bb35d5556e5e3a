// Names in a module that the options of a run can refer to.
#pragma once

#include "input_names.hpp"
#include "mir/module.hpp"
#include "run_settings.hpp"

namespace mir::tools {

/// The graphs that the runs enter.
struct RunEntries {
  std::vector<std::string> names;   ///< each once, in the order of their first run; empty: the body
  std::vector<std::size_t> of_run;  ///< which of them each run enters
};
RunEntries entries_of(const RunSettings& settings);

/// The inputs and outputs of the graphs that run; graphs, symbols of extents, ops and results if a
/// given argument refers to such names.
InputNames names_of(const Module& module, const RunSettings& settings);

}  // namespace mir::tools
