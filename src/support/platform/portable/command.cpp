// Refuses to run commands.
#include "support/platform/command.hpp"

#include <fmt/format.h>

#include "mir/codes/limits.hpp"

namespace mir {

Result<CommandResult> run_command(const std::string& line, const CommandSetting&) {
  return Error{diag::kLimitExceeded,
               fmt::format("cannot run '{}': this build runs no commands", line)};
}

std::vector<std::string> own_environment() {
  return {};
}

}  // namespace mir
