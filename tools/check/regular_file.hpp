// Files that are there as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// The bytes of a regular file. Anything else is refused: reading a FIFO may wait for ever.
Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit);

}  // namespace mir::tools
