// Conditions and bounds of control flow that are constants.
#pragma once

#include <cstdint>
#include <optional>

#include "mir/op.hpp"

namespace mir {

/// The one element of a constant of Bool, Int32 or Int64; no value for others.
std::optional<std::int64_t> constant_element(const Value& value);

/// The iterations of a loop: from `first` on in steps.
struct LoopRange {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;

  /// The product alone can be too large for the type, the sum is not.
  std::int64_t index(std::uint64_t iteration) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                     iteration * static_cast<std::uint64_t>(step));
  }
};
/// Returns the range of a cf.ForOp with constant bounds and a step above 0; no value for other ops.
std::optional<LoopRange> constant_range(const Op& loop);

/// True if ops may leave the regions of a control flow op: each has one block, and none binds
/// symbols that have other values around it.
bool may_leave_regions(const Op& op);

}  // namespace mir
