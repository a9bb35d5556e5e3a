// Tracks which patterns made an op, to report cycles.
#include "passes/rewrite/lineage.hpp"

#include <algorithm>

namespace mir {

std::vector<std::uint32_t> Lineage::cycle(std::uint32_t rewrite) const {
  constexpr std::size_t kLongest = 8;
  std::vector<std::uint32_t> last;  // from the last back
  for (std::uint32_t at = rewrite; at != kNone && last.size() < 2 * kLongest;) {
    last.push_back(rewrites_[at].pattern);
    at = rewrites_[at].parent;
  }
  for (std::size_t period = 1; 2 * period <= last.size(); ++period) {
    const bool repeats = std::equal(last.begin(), last.end() - static_cast<std::ptrdiff_t>(period),
                                    last.begin() + static_cast<std::ptrdiff_t>(period));
    if (!repeats) continue;
    last.resize(period);
    std::ranges::reverse(last);
    return last;
  }
  last.resize(1);
  return last;
}

}  // namespace mir
