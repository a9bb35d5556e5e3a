// Finds the line most similar to a missing text, by shared pairs of bytes.
#include "nearest_line.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace mir::tools {

namespace {

constexpr std::size_t kMaxLines = 10'000;
constexpr std::size_t kMaxLength = 2'000;

/// Pairs of neighbouring bytes, in order of their numbers; blanks do not count.
std::vector<std::uint16_t> pairs_of(std::string_view text) {
  std::vector<std::uint16_t> pairs;
  unsigned last = 0;
  for (const char byte : text.substr(0, kMaxLength)) {
    if (byte == ' ' || byte == '\t') continue;
    const unsigned next = static_cast<unsigned char>(byte);
    if (last != 0) pairs.push_back(static_cast<std::uint16_t>(last << 8 | next));
    last = next;
  }
  std::ranges::sort(pairs);
  return pairs;
}

}  // namespace

std::optional<std::size_t> nearest_line(std::string_view wanted,
                                        std::span<const std::string_view> lines) {
  const auto sought = pairs_of(wanted);
  std::size_t most = sought.size() / 2;
  std::optional<std::size_t> best;
  std::vector<std::uint16_t> common;
  for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) {
    common.clear();
    std::ranges::set_intersection(sought, pairs_of(lines[i]), std::back_inserter(common));
    if (common.size() <= most) continue;
    most = common.size();
    best = i;
  }
  return best;
}

}  // namespace mir::tools
