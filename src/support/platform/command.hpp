// One command line, run by a shell within limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

enum class CommandShell {
  kBashPipefail,  ///< `bash -o pipefail -c`: a pipe fails if any part of it fails
  kPosix,         ///< `sh -c`: the status of a pipe is that of its last part
};

/// Shell, folder, environment and limits of commands.
struct CommandSetting {
  CommandShell shell = CommandShell::kBashPipefail;
  std::string folder;
  std::vector<std::string> environment;  ///< `NAME=value`; nothing else is inherited
  std::chrono::seconds time_limit{60};
  std::size_t output_limit = std::size_t{64} << 20;  ///< bytes of both streams together
  int interrupt = -1;  ///< a descriptor that becomes readable when all shall end; -1: none
};

enum class CommandEnd { kExited, kTimeLimit, kOutputLimit, kInterrupted };

struct CommandResult {
  CommandEnd end = CommandEnd::kExited;
  int status = 0;  ///< where it exited; 128 and the number of a signal that ended it
  std::string out;
  std::string err;
};

/// Runs `line` by the shell without input. Everything it started that is still in its
/// process group is killed when it ends, or when it reaches a limit. An error where programs cannot
/// run others.
Result<CommandResult> run_command(const std::string& line, const CommandSetting& setting);

/// The environment of this program, as `NAME=value`.
std::vector<std::string> own_environment();

}  // namespace mir
