// Memory of the values of a function.
#pragma once

#include <cstdint>
#include <map>

namespace mir::c {

/// Places values in memory, first fit. Values that are alive at the same op do not overlap.
class CFrame {
 public:
  static constexpr std::int64_t kAlignment = 64;
  /// Most bytes that a program can use. Users stop before a frame is much larger.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 47;

  /// Returns the offset of a value that is alive from op `first` to op `last`. Ops are in order.
  std::int64_t place(std::int64_t bytes, std::int64_t first, std::int64_t last);
  std::int64_t size() const { return size_; }

 private:
  struct Part {
    std::int64_t begin = 0, end = 0;
  };

  void release(Part part);

  std::multimap<std::int64_t, Part> parts_;    // of values that are alive, by their last op
  std::map<std::int64_t, std::int64_t> gaps_;  // from begin to end, apart from each other
  std::int64_t top_ = 0;                       // end of the last part; no gap ends there
  std::int64_t size_ = 0;
};

}  // namespace mir::c
