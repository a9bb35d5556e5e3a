// A command that tells whether a text is interesting.
#pragma once

#include <memory>
#include <string>

#include "command.hpp"
#include "reduce/reduce.hpp"
#include "support/platform/scratch_folder.hpp"

namespace mir::tools {

/// End of the command that makes a text interesting.
enum class WantedEnd { kSuccess, kSignal, kTimeLimit };

/// Writes texts to files of a temporary folder and runs a command on them in the current folder.
/// May be used by several threads at once: each has a file of its own meanwhile.
class CommandTest {
 public:
  /// `interrupt`: see CommandSetting.
  static Result<CommandTest> create(std::string command, WantedEnd wanted,
                                    std::chrono::seconds time_limit, int interrupt);

  Result<reduce::Answer> judge(const std::string& text) const;

 private:
  /// The files that are in use, by number.
  class Files;

  CommandTest(ScratchFolder folder, std::string command, WantedEnd wanted, CommandSetting setting);

  ScratchFolder folder_;
  std::shared_ptr<Files> files_;
  std::string command_;
  WantedEnd wanted_;
  CommandSetting setting_;
};

}  // namespace mir::tools
