// Whole files in, whole files out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "support/platform/mapped_file.hpp"

namespace mir {

/// Reads a file, or standard input for "-". Refuses more than `limit` bytes before reading them.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// Writes all of `text` to `path` or nothing: a temporary file beside it is written, synchronised
/// and renamed over it. Mode and a symbolic link at `path` are kept. "-" writes standard output.
Result<void> write_file_atomically(const std::string& path, std::string_view text);

}  // namespace mir
