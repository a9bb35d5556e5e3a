// Bounds of the work and memory of a chat template.
#pragma once

#include <cstdint>

namespace mir::chat {

/// Bounds of one rendering.
struct RenderLimits {
  std::uint64_t steps = 20'000'000;                ///< a step is about one value or 16 bytes
  std::uint64_t bytes = std::uint64_t{256} << 20;  ///< of all values together
};

}  // namespace mir::chat
