// The options of mllm-pack.
#pragma once

#include <cstdint>
#include <string>

#include "option.hpp"
#include "option_pages.hpp"
#include "tools/interp/run_settings.hpp"
#include "verification.hpp"

namespace mir::tools {

extern const ToolInfo kPackTool;

enum class PackCommand : std::uint8_t { kCreate, kList, kCheck, kExtract };

inline constexpr CommandRow<PackCommand> kPackCommands[] = {
    {{.name = "create",
      .summary = "pack a module with everything that a run of it needs",
      .operands = "one module",
      .most = 1},
     PackCommand::kCreate},
    {{.name = "list",
      .summary = "list members with sizes and hashes, and the command that runs the pack",
      .operands = "one pack or more"},
     PackCommand::kList},
    {{.name = "check",
      .summary = "compare every member with its hash",
      .operands = "one pack or more"},
     PackCommand::kCheck},
    {{.name = "extract",
      .summary = "write all members, or the named ones, to a folder",
      .operands = "one pack, and members of it"},
     PackCommand::kExtract}};

struct PackSettings {
  OptionSet& options;
  Command<PackCommand> command{options, kPackCommands};
  OptionSet creation{options, "create"};

  Option<std::string> output{options,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "PATH",
                              .help = "write the pack, or extract to this folder",
                              .commands = "create extract",
                              .is_needed = true},
                             written_file()};
  RunSettings run{creation};
  VerificationSettings verification{options};
};

}  // namespace mir::tools
