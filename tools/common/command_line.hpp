// A command line taken apart by the rows of a tool.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "option.hpp"

namespace mir::tools {

/// Options and operands of a command line, in order, before any of them is read.
struct CommandLine {
  struct Given {
    OptionRow* option;
    std::string text;
  };
  std::vector<Given> given;
  std::vector<std::string> operands;

  /// Returns the first argument of the option; null if it is not given.
  const std::string* first(const OptionRow& option) const;
  /// Passes every argument to its row, in the order of turns. All are read; returns the first
  /// error.
  Result<void> read() const;
  /// Like read(), for dialects and passes.
  Result<void> read_first() const;

 private:
  Result<void> read_turns(std::initializer_list<ReadingTurn> turns) const;
};

/// `words` without the program's name. `-` is an operand; after `--` everything is. Long names are
/// never guessed from their beginning. Names that the tool does not have are refused with the
/// option to use: see use_instead().
Result<CommandLine> split_command_line(const OptionSet& options, std::span<const char* const> words,
                                       std::string_view tool = {});

}  // namespace mir::tools
