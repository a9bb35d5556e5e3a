// The tokens of a step that each sequence of a batch appends to a cache, by their positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

/// Consecutive tokens of one sequence.
struct TokenRun {
  std::int64_t sequence = 0;
  std::int64_t first = 0, count = 0;  ///< in the step
  std::int64_t at = 0;                ///< of the first, in the cache
};

struct TokenRuns {
  std::vector<TokenRun> runs;
  std::vector<std::int64_t> counts;  ///< tokens of each sequence

  /// Returns the length of the longest sequence after the step.
  std::int64_t longest(std::span<const std::int64_t> held) const;
};

/// Returns the runs of a step with `positions` [sequences, tokens] in row-major order, where the
/// cache holds `held` tokens of each sequence. A negative position marks padding. An error
/// (kCacheMismatch) if another one is not the number of the sequence's tokens before it.
Result<TokenRuns> token_runs(std::span<const std::int64_t> positions,
                             std::span<const std::int64_t> held);

}  // namespace mir
