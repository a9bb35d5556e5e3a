// Equal neighbours in a block, such as the layers of a model.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// `count` copies of `length` ops each, from op `first` of a list.
struct Repetition {
  std::size_t first = 0, length = 0, count = 0;
};

/// Returns repetitions that do not overlap, in their order. Copies have equal ops up to names and
/// numbers of layers, and are connected in the same way inside and with the copy before. A
/// repetition has at least 4 ops in each copy, those of called graphs and regions included.
std::vector<Repetition> find_repetitions(std::span<const Op* const> ops);

}  // namespace mir
