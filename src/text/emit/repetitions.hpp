// Equal neighbours in a block, such as the layers of a model.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// `count` copies of `length` ops each, from op `first` of a list.
struct Repetition {
  std::size_t first = 0, length = 0, count = 0;
};

/// Finds repetitions in lists of ops, such as those of the blocks of a module.
class RepetitionSearch {
 public:
  RepetitionSearch();
  ~RepetitionSearch();
  RepetitionSearch(const RepetitionSearch&) = delete;
  RepetitionSearch& operator=(const RepetitionSearch&) = delete;

  /// Returns repetitions that do not overlap, in their order. Copies have equal ops up to names and
  /// numbers of layers, and are connected in the same way inside and with the copy before. A
  /// repetition has at least 4 ops in each copy, those of called graphs and regions included.
  std::vector<Repetition> find(std::span<const Op* const> ops);

 private:
  struct State;
  std::unique_ptr<State> state_;  // what is known of graphs
};

}  // namespace mir
