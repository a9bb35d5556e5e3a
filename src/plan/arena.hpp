// Places for values in one block of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mir {

/// A value that is alive from node `first` to node `last`, both included.
struct Lifetime {
  std::uint64_t size = 0;  ///< bytes
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint64_t offset = 0;  ///< set by place()
};

/// Values that share one block of memory: those alive at one node do not overlap.
class Placements {
 public:
  void add(const Lifetime& value) { values_.push_back(value); }
  /// In the order of add(); sizes are the caller's to set.
  std::span<Lifetime> values() { return values_; }
  std::span<const Lifetime> values() const { return values_; }

  /// Gives each value an offset, a multiple of 64; the size of the block. Largest values first,
  /// each at the lowest place that is free for its whole life: near the lower bound for the graphs
  /// of models. The sizes of the last few calls are remembered with their offsets, so a prompt and
  /// the tokens after it are placed once each. Allocates in the first call only.
  std::uint64_t place();

 private:
  struct Placed {
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> offsets;
    std::uint64_t end = 0;
    bool is_valid = false;
  };
  const Placed* find() const;
  std::uint64_t place_anew();
  void remember(std::uint64_t end);

  std::vector<Lifetime> values_;
  std::array<Placed, 4> remembered_;
  std::size_t next_ = 0;                 // of those, the one that goes
  std::vector<std::uint32_t> order_;     // by size
  std::vector<const Lifetime*> placed_;  // by offset
};

/// The most bytes that are alive at one node: no placement needs less.
std::uint64_t most_alive(std::span<const Lifetime> values);

}  // namespace mir
