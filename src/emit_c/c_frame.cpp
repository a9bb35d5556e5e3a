// Places values first fit: in the first gap between others that is large enough.
#include "emit_c/c_frame.hpp"

#include <algorithm>

namespace mir::c {

std::int64_t CFrame::place(std::int64_t bytes, std::int64_t first, std::int64_t last) {
  const auto is_alive = parts_.lower_bound(first);
  for (auto part = parts_.begin(); part != is_alive; ++part) release(part->second);
  parts_.erase(parts_.begin(), is_alive);
  const std::int64_t taken =
      (std::max<std::int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto gap = std::ranges::find_if(
      gaps_, [&](const auto& each) { return each.second - each.first >= taken; });
  std::int64_t at = top_;
  if (gap != gaps_.end()) {
    const auto [begin, end] = *gap;
    at = begin;
    gaps_.erase(gap);
    if (begin + taken < end) gaps_.emplace(begin + taken, end);
  } else {
    top_ += taken;
  }
  parts_.emplace(last, Part{at, at + taken});
  size_ = std::max(size_, top_);
  return at;
}

/// Joins the part with the gaps beside it.
void CFrame::release(Part part) {
  auto next = gaps_.lower_bound(part.begin);
  if (next != gaps_.begin() && std::prev(next)->second == part.begin) {
    part.begin = std::prev(next)->first;
    gaps_.erase(std::prev(next));
  }
  if (next != gaps_.end() && next->first == part.end) {
    part.end = next->second;
    gaps_.erase(next);
  }
  if (part.end == top_) {
    top_ = part.begin;
  } else {
    gaps_.emplace(part.begin, part.end);
  }
}

}  // namespace mir::c
