// The types of a call and those of its graph.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// A graph's symbols are its own: a call may pass other extents for them, such as [1, 1] for
/// [1, $S]. The first argument that has a symbol alone as an extent determines what it stands for.
class CallTypes {
 public:
  /// `operands` are the types that a call passes; null: not known.
  CallTypes(IRContext& context, const Region& graph, std::span<const Type* const> operands);
  static CallTypes of(const Op& call, const Region& graph);

  /// True if a symbol stands for anything but itself. Then it has a value of its own in the run of
  /// the call.
  bool has_own_symbols() const { return has_own_symbols_; }
  /// A type of the graph as the call has it. Symbols that no argument determines are unknown
  /// extents, if the call has symbols of its own.
  const Type* at_call(const Type* type) const;
  Dim at_call(Dim extent) const;

 private:
  const Dim* find(Symbol symbol) const;

  IRContext& context_;
  std::vector<std::pair<Symbol, Dim>> symbols_;
  bool has_own_symbols_ = false;
};

}  // namespace mir
