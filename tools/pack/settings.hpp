// The options of mllm-pack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/result.hpp"
#include "tool.hpp"

namespace mir::tools {

extern const ToolInfo kPackTool;

enum class PackCommand : std::uint8_t { kCreate, kList, kCheck, kExtract };

struct PackSettings {
  PackCommand command = PackCommand::kList;
  std::vector<std::string> files;  ///< extract: one, and members
  std::string output;
};
Result<PackSettings> pack_settings(const Arguments& arguments);

}  // namespace mir::tools
