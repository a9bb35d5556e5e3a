// Gives values of the positions of a step a dimension for the sequences of a batch.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "mir/ops.hpp"
#include "mir/pass.hpp"

namespace mir {

/// Follows values that became different for each sequence through the ops that read them.
class OwnPositions {
 public:
  OwnPositions(PassRun& run, Builder& builder, Dim batch)
      : run_(run), builder_(builder), batch_(batch) {}

  /// Notes a value whose first dimension, that of sequences, was put before its others.
  void add(const Value& value) { values_.emplace(&value, Place::kBefore); }

  /// Gives the ops of the body after these values the operands and types that follow. False after
  /// reporting an op that would take the positions of another sequence.
  bool follow();

 private:
  /// The dimension of sequences was put before those of the value, or its first one was 1 and
  /// became that of sequences.
  enum class Place : bool { kBefore, kFirst };

  bool refuse(const Op& op, std::string message);
  /// The place in a value that is different for each sequence; null for any other value.
  const Place* place_in(const Value& value) const;
  /// Rank that the value had when it was equal for all sequences.
  std::size_t rank_before(const Value& value) const;

  bool follow(Op& op);
  /// Elementwise: views that put the sequences where they are in the other operands.
  bool align_operands(Op& op);
  /// Adds the sequences to the extents that a view states.
  void widen_view(Op& op);
  /// Gives the results the types that follow from the operands.
  bool infer_results(Op& op);

  PassRun& run_;
  Builder& builder_;
  Dim batch_;
  std::unordered_map<const Value*, Place> values_;
};

}  // namespace mir
