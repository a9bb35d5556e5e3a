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
      .summary = "put a module and all that a run of it needs into one file",
      .operands = "one module",
      .most = 1},
     PackCommand::kCreate},
    {{.name = "list",
      .summary = "name, bytes and hash of every member, and the run",
      .operands = "one pack or more"},
     PackCommand::kList},
    {{.name = "check", .summary = "hold every member to its hash", .operands = "one pack or more"},
     PackCommand::kCheck},
    {{.name = "extract",
      .summary = "write all members, or those named, into a folder",
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
                              .help = "the pack, or the folder to write to",
                              .commands = "create extract",
                              .is_needed = true},
                             any_file()};
  RunSettings run{creation};
  VerificationSettings verification{options};
};

}  // namespace mir::tools
