// Files that are there as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Returns an error if the path exists and is not a regular file, because reading a FIFO may wait
/// for ever. A missing file passes.
Result<void> expect_regular_file(const std::string& path);

/// The bytes of a regular file. Anything else is refused.
Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit);

}  // namespace mir::tools
