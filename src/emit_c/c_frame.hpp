// Memory of the values of a function.
#pragma once

#include <cstdint>
#include <vector>

namespace mir::c {

/// Places values in memory. Values that are alive at the same op do not overlap.
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
    std::int64_t begin = 0, end = 0, last = 0;
  };

  std::vector<Part> parts_;  // by begin, of values that are alive
  std::int64_t size_ = 0;
};

}  // namespace mir::c
