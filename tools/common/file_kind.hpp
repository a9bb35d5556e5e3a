// What a file is, for messages that name the tool that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

enum class FileKind : std::uint8_t { kIr, kJson, kTensors, kArray, kPack };

/// The kind of a regular file by its first bytes; no value for any other file.
std::optional<FileKind> kind_of_file(const std::string& path);

/// An error if the file is of another kind than the command reads. It says what the file is and
/// which tool reads it. A file of no known kind is left to the reader.
Result<void> expect_kind(const std::string& path, FileKind wanted);

}  // namespace mir::tools
