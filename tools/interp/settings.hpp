// The options of mllm-interp.
#pragma once

#include "mir/files/compare.hpp"
#include "mir/passes/upgrade.hpp"
#include "tool.hpp"

namespace mir::tools {

extern const ToolInfo kInterpTool;

/// What the options say besides files, ports and names.
struct InterpSettings {
  Tolerance tolerance{.abs = 1e-6, .rel = 1e-5};
  UpgradeOptions assumed;  ///< what a dump lost
  std::size_t top = 0;     ///< elements to show of each last row
  unsigned threads = 1;
};
Result<InterpSettings> interp_settings(const Arguments& arguments);

}  // namespace mir::tools
