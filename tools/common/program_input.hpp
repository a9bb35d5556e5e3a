// Executable programs in JSON form as input and output of tools.
#pragma once

#include <span>

#include "mir/module.hpp"
#include "tool.hpp"

namespace mir::tools {

/// `file` itself, or the module text of the program that it holds as JSON, under the same name;
/// null after a report.
const SourceFile* program_as_text(const SourceFile& file, SourceManager& sources,
                                  Diagnostics& diagnostics);

/// Writes the only module as a JSON program, or reports why it cannot be written.
ExitCode write_program(const Run& run, std::span<Module* const> modules);

}  // namespace mir::tools
