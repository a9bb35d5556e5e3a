// A command that tells whether a text is interesting.
#pragma once

#include <string>

#include "command.hpp"
#include "reduce/reduce.hpp"
#include "scratch_folder.hpp"

namespace mir::tools {

/// How a command has to end for the text to be interesting.
enum class WantedEnd { kSuccess, kSignal, kTimeLimit };

/// Writes texts to a file of a temporary folder and runs a command on it in the current folder.
class CommandTest {
 public:
  /// `interrupt`: see CommandSetting.
  static Result<CommandTest> create(std::string command, WantedEnd wanted,
                                    std::chrono::seconds time_limit, int interrupt);

  Result<reduce::Answer> judge(const std::string& text) const;

 private:
  CommandTest(ScratchFolder folder, std::string command, WantedEnd wanted, CommandSetting setting);

  ScratchFolder folder_;
  std::string file_;
  std::string line_;
  WantedEnd wanted_;
  CommandSetting setting_;
};

}  // namespace mir::tools
