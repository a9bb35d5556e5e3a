// Kinds of files, for messages that name the tool that reads a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

enum class FileKind : std::uint8_t { kIr, kJson, kTensors, kArray, kPack };

/// The kind of a regular file by its first bytes; no value for any other file.
std::optional<FileKind> kind_of_file(const std::string& path);

/// Returns an error if the file is of another kind than the command reads. The error names the kind
/// of the file and the tool that reads it. A file of unknown kind is left to the reader.
Result<void> expect_kind(const std::string& path, FileKind wanted);

}  // namespace mir::tools
