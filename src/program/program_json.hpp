// The executable program of upstream's interpreter, a JSON document, and modules of the prog
// dialect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Returns the text of a module in dump form with the fragments and instructions of the document.
/// Facts missing from the document are not invented: values have the type `!prog.slot`, except
/// constants, whose extents and Float32 values it holds. Devices of instructions, which dumps do
/// not show, are dropped, and so are the facts about its compilation. The document is untrusted:
/// unknown instructions, missing and repeated fields, wrong kinds of values, numbers and names that
/// no text can hold, and nesting over 64 are refused with kProgramMalformed.
Result<std::string> program_text(std::string_view json);
/// Translates a file. Errors are reported at their places in it; returns no value after an error.
std::optional<std::string> program_text(const SourceFile& file, Diagnostics& diagnostics);

/// Returns the document for a module whose top level is fragments: keys in alphabetical order, no
/// blanks, as upstream writes it. Of the facts about a compilation only `little_endian` and
/// `op_counts` are included. Ops that are not instructions of a program, or lack a field that the
/// document needs, are refused at their place with kProgramMalformed.
std::optional<std::string> program_json(const Module& module, Diagnostics& diagnostics);

}  // namespace mir
