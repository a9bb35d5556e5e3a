// Large pages for large memory.
#pragma once

#include <cstddef>

namespace mir {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Asks that memory which has not been written yet be backed by huge pages where it covers them:
/// filling it is bound by page faults otherwise, walking it by address translation. Only a wish.
void prefer_huge_pages(void* begin, std::size_t bytes);

}  // namespace mir
