// Random numbers of a validation, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace mir::validate {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// Below `count`, which is not 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits_below(count)); }
  std::uint64_t bits_below(std::uint64_t count) { return engine_() % count; }
  /// True in one of so many cases.
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_below(static_cast<std::uint64_t>(high - low) + 1));
  }
  std::uint64_t bits() { return engine_(); }
  /// In [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mir::validate
