// What a call costs, the same on every machine and at every run: no time is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mir::test {

struct Cost {
  /// Accesses to memory and calls in the libraries, and words that they copy, set or compare by the
  /// C library.
  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;  ///< allocated, whether freed since or not
};

/// What `work` costs. One at a time.
Cost cost_of(const std::function<void()>& work);

}  // namespace mir::test
