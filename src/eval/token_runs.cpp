// Finds the tokens of a step that sequences append, and checks their positions.
#include "eval/token_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/runs.hpp"

namespace mir {

std::int64_t TokenRuns::longest(std::span<const std::int64_t> held) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < held.size(); ++i) most = std::max(most, held[i] + counts[i]);
  return most;
}

Result<TokenRuns> token_runs(std::span<const std::int64_t> positions,
                             std::span<const std::int64_t> held) {
  TokenRuns found;
  if (held.empty()) return found;
  const std::size_t tokens = positions.size() / held.size();
  for (std::size_t sequence = 0; sequence < held.size(); ++sequence) {
    std::int64_t& count = found.counts.emplace_back(0);
    for (std::size_t token = 0; token < tokens; ++token) {
      const std::int64_t position = positions[sequence * tokens + token];
      if (position < 0) continue;
      const std::int64_t next = held[sequence] + count;
      if (position != next)
        return Error{diag::kCacheMismatch,
                     fmt::format("token {} of sequence {} has position {}, expected {}", token,
                                 sequence, position, next)};
      const bool is_more = count > 0 && token > 0 && positions[sequence * tokens + token - 1] >= 0;
      if (is_more) {
        ++found.runs.back().count;
      } else {
        found.runs.push_back({.sequence = static_cast<std::int64_t>(sequence),
                              .first = static_cast<std::int64_t>(token),
                              .count = 1,
                              .at = next});
      }
      ++count;
    }
  }
  return found;
}

}  // namespace mir
