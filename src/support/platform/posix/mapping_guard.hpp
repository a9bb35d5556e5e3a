// Guards of mapped files; see note [shortened files].
#pragma once

#include <cstddef>
#include <span>

#include "support/platform/mapped_file.hpp"

namespace mir {

/// Guards the pages of `bytes`, mapped from the start of the file `descriptor`, which the guard
/// keeps open; false when too many mappings are guarded. The descriptor then still is the caller's.
[[nodiscard]] bool guard_mapping(std::span<const std::byte> bytes, int descriptor);
/// Ends it, before the pages are unmapped, and closes the descriptor.
void release_mapping(std::span<const std::byte> bytes);

}  // namespace mir
