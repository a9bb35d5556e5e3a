// Dialects that files declare, for tools that read modules.
#pragma once

#include <string>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/weights.hpp"
#include "option.hpp"

namespace mir::tools {

struct DialectSettings {
  OptionSet& options;
  std::string_view needs{};

  OptionList<std::string> files{
      options,
      {.name = "dialect",
       .argument = "FILE",
       .help = "read the dialects that FILE declares first, after those of MIR_DIALECT_PATH",
       .needs = needs,
       .turn = ReadingTurn::kDialects},
      read_file_name("*.mir")};
};

/// The files that register_dialects() reads, in order.
std::vector<std::string> dialect_paths(const DialectSettings& settings);

/// Registers the built-in dialects and those that files declare: the files and folders of the
/// environment variable MIR_DIALECT_PATH, which are separated by colons, then those of the option,
/// which are opened through `files`. Returns false after reporting.
bool register_dialects(const DialectSettings& settings, IRContext& context,
                       Diagnostics& diagnostics, const FileOpener& files = {});

}  // namespace mir::tools
