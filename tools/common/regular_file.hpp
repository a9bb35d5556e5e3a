// Files that are there as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// An error for what is there and is no regular file: reading a FIFO may wait for ever. What is not
/// there is none of its business.
Result<void> expect_regular_file(const std::string& path);

/// The bytes of a regular file. Anything else is refused.
Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit);

}  // namespace mir::tools
