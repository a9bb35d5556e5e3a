// Memory in pages of 2 MiB where the system gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mir::fast {

/// One block of memory from the system, zero-filled, aligned to 64 bytes or more. Weights that are
/// read once for each token are bound by memory: with large pages they come a fifth to nearly a
/// half faster.
class LargePages {
 public:
  LargePages() = default;
  /// Empty when the system has not that much.
  explicit LargePages(std::uint64_t bytes);
  ~LargePages();
  LargePages(LargePages&& other) noexcept;
  LargePages& operator=(LargePages&& other) noexcept;

  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<std::byte> bytes_;  // what is used of the mapping
  std::span<std::byte> mapping_;
};

}  // namespace mir::fast
