// Division of loops into tasks. It depends on counts only, so results do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mir::fast {

/// [0, total) in `count` parts of `size` each, the last one shorter.
struct Chunks {
  std::int64_t total = 0;
  std::int64_t size = 1;
  std::int64_t count = 0;

  std::int64_t first(std::int64_t chunk) const { return chunk * size; }
  std::int64_t length(std::int64_t chunk) const { return std::min(size, total - chunk * size); }
};

/// As few parts of at most about `most` elements as there can be, of nearly equal sizes that are
/// multiples of `unit`.
inline Chunks cut(std::int64_t total, std::int64_t most, std::int64_t unit = 1) {
  if (total <= 0) return {};
  const std::int64_t count = (total - 1) / std::max<std::int64_t>(most, 1) + 1;
  const std::int64_t size = ((total - 1) / count / unit + 1) * unit;
  return {.total = total, .size = size, .count = (total - 1) / size + 1};
}

/// Elements of one task of a kernel that does little for each: some microseconds of work.
inline constexpr std::int64_t kTaskElements = 8192;

}  // namespace mir::fast
