// The executable program of upstream's interpreter, a JSON document, and modules of the prog
// dialect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// The text of a module in dump form with the fragments and instructions of the document. What the
/// document does not hold is not made up: values have the type `!prog.slot`, except constants,
/// whose extents and Float32 values it holds. Devices of instructions, which dumps do not show, are
/// dropped, and so are the facts about its compilation. The document is taken for hostile: unknown
/// instructions, missing and repeated fields, wrong kinds of values, numbers and names that no text
/// can hold, and nesting over 64 are refused with kProgramMalformed.
Result<std::string> program_text(std::string_view json);
/// The same for a file; what is refused is reported where it is. No value after that.
std::optional<std::string> program_text(const SourceFile& file, Diagnostics& diagnostics);

/// The document for a module whose top level is fragments: keys in alphabetical order, no blanks,
/// as upstream writes it; of the facts about a compilation only `little_endian` and `op_counts`.
/// What is no instruction of a program, or lacks a field that the document needs, is refused at its
/// place with kProgramMalformed.
std::optional<std::string> program_json(const Module& module, Diagnostics& diagnostics);

}  // namespace mir
