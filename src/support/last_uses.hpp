// Liveness in an order of execution: the step that uses each thing last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mir {

/// Things (values, places, slots) and steps are numbers from 0. Uses are told in the order of the
/// steps.
class LastUses {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void use(std::size_t thing, std::uint32_t step) { entry(thing).step = step; }
  /// It outlives all steps.
  void keep(std::size_t thing) { entry(thing).is_kept = true; }

  bool is_used(std::size_t thing) const {
    return thing < entries_.size() && entries_[thing].step != kNone;
  }
  /// Returns the last step that needs the thing; kNone if it is kept or never used.
  std::uint32_t of(std::size_t thing) const {
    return is_used(thing) && !entries_[thing].is_kept ? entries_[thing].step : kNone;
  }
  /// Returns, for each of `steps` steps, the numbers that it uses last, in ascending order.
  std::vector<std::vector<std::uint32_t>> by_step(std::size_t steps) const {
    std::vector<std::vector<std::uint32_t>> things(steps);
    for (std::uint32_t thing = 0; thing < entries_.size(); ++thing) {
      if (const std::uint32_t step = of(thing); step != kNone) things[step].push_back(thing);
    }
    return things;
  }

 private:
  struct Entry {
    std::uint32_t step = kNone;
    bool is_kept = false;
  };
  Entry& entry(std::size_t thing) {
    if (thing >= entries_.size()) entries_.resize(thing + 1);
    return entries_[thing];
  }

  std::vector<Entry> entries_;
};

}  // namespace mir
