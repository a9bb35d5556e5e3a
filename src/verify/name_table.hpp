// A table over names of values or their ids, in pages so that large numbers cost little.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace mir::checks {

template <class Entry>
class NameTable {
 public:
  /// A new key has a value-initialised entry.
  Entry& operator[](std::uint32_t key) {
    const std::uint32_t page = key / kPageSize;
    if (page < pages_.size() && pages_[page] != nullptr) [[likely]] {
      return (*pages_[page])[key % kPageSize];
    }
    return add(key);
  }

 private:
  static constexpr std::uint32_t kPageSize = 128;
  static constexpr std::uint32_t kDirectPages = 1u << 17;
  using Page = std::array<Entry, kPageSize>;

  [[gnu::noinline]] Entry& add(std::uint32_t key) {
    const std::uint32_t page = key / kPageSize;
    if (page >= kDirectPages) return others_[key];
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[key % kPageSize];
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::unordered_map<std::uint32_t, Entry> others_;
};

}  // namespace mir::checks
