// Copies the part of an operand that loops of a kernel read into a buffer of a memory space.
#pragma once

#include <string>
#include <string_view>

#include "mir/rewriter.hpp"

namespace mir {

struct CacheRequest {
  std::size_t operand = 0;
  std::string_view loop;   ///< the innermost loop around the copy
  std::string_view space;  ///< of the buffer
};

/// Inserts into each nest with the loop a buffer and a nest that copies what the loops inside read
/// of the operand, and makes them read the buffer. Returns the reason if that cannot be done, and
/// then changes nothing.
std::string cache_operand(Rewriter& rewriter, Op& kernel, const CacheRequest& request);

}  // namespace mir
