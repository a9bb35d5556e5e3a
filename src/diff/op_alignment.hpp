// Pairs of ops of two blocks that belong together.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Counterparts of the values of two modules by their ids, null for values that have none yet.
struct ValuePartners {
  const std::vector<const Value*>& of_before;
  const std::vector<const Value*>& of_after;
};

/// Pairs ops of two blocks, in the order of both, so that few fields differ and few ops have no
/// partner. Ops of one kind can be pairs; so can two ops of different kinds if nothing else of them
/// differs, or if their results have the same names, which are not numbers. Takes linear time:
/// short stretches are searched for the best pairs, and long ones are split at equal ops.
std::vector<std::pair<const Op*, const Op*>> align_ops(std::span<const Op* const> before,
                                                       std::span<const Op* const> after,
                                                       const ValuePartners& partners);

}  // namespace mir
