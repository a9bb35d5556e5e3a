// The options of mllm-interp.
#pragma once

#include <optional>

#include "mir/files/compare.hpp"
#include "tool.hpp"

namespace mir::tools {

extern const ToolInfo kInterpTool;

/// What the options say besides files, ports and names.
struct InterpSettings {
  Tolerance tolerance{.abs = 1e-6, .rel = 1e-5};
  std::optional<double> rms_epsilon, layer_norm_epsilon;
  std::size_t top = 0;  ///< elements to show of each last row
  unsigned threads = 1;
};
Result<InterpSettings> interp_settings(const Arguments& arguments);

}  // namespace mir::tools
