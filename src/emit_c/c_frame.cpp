// Places values first fit.
#include "emit_c/c_frame.hpp"

#include <algorithm>

namespace mir::c {

std::int64_t CFrame::place(std::int64_t bytes, std::int64_t first, std::int64_t last) {
  std::erase_if(parts_, [&](const Part& each) { return each.last < first; });
  const std::int64_t taken =
      (std::max<std::int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  std::int64_t at = 0;
  auto next = parts_.begin();
  while (next != parts_.end() && next->begin - at < taken) at = std::max(at, (next++)->end);
  parts_.insert(next, {at, at + taken, last});
  size_ = std::max(size_, at + taken);
  return at;
}

}  // namespace mir::c
