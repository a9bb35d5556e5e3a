// The options of mllm-weights.
#pragma once

#include <string>
#include <vector>

#include "conversion.hpp"
#include "mir/compare.hpp"
#include "tool.hpp"

namespace mir::tools {

extern const ToolInfo kWeightsTool;

enum class WeightsCommand { kList, kMatch, kStats, kDiff, kConvert };

/// A command line that makes sense.
struct WeightsSettings {
  WeightsCommand command = WeightsCommand::kList;
  std::vector<std::string> files;  ///< operands after the command; for match the module comes first
  std::string output;
  ConversionRules rules;
  Tolerance tolerance;
};
Result<WeightsSettings> weights_settings(const Arguments& arguments);

}  // namespace mir::tools
