// The types of a call and those of its graph.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// A graph's symbols are its own: a call may pass other extents for them, such as [1, 1] for
/// [1, $S]. The first argument that has a symbol alone as an extent determines what it stands for.
/// A symbol that the graph finds out when it runs has another name where the results of the call
/// say so.
class CallTypes {
 public:
  /// True if symbols of the graph have values of their own in the run of a call: it passes or names
  /// others, or the graph finds out symbols that no result of the call has. Never in modules of
  /// versions before kSymbolsVersion.
  static bool are_own(const Op& call, const Op& graph);

  /// `operands` are the types that a call passes, `results` those that it states; null: not known.
  CallTypes(IRContext& context, const Region& graph, std::span<const Type* const> operands,
            std::span<const Type* const> results = {});
  static CallTypes of(const Op& call, const Region& graph);

  /// True if a symbol stands for anything but itself. Then it has a value of its own in the run of
  /// the call.
  bool has_own_symbols() const { return has_own_symbols_; }
  /// The symbols that arguments determine, with what they stand for.
  std::span<const std::pair<Symbol, Dim>> symbols() const { return symbols_; }
  /// A type of the graph as the call has it. Symbols that no argument determines are unknown
  /// extents, if the call has symbols of its own.
  const Type* at_call(const Type* type) const;
  Dim at_call(Dim extent) const;

 private:
  /// Calls `visit(symbol, extent)` where one of the types has a symbol alone and the other an
  /// extent.
  template <class Visit>
  void for_each_alone(const Type* of_graph, const Type* of_call, const Visit& visit) const;

  IRContext& context_;
  std::vector<std::pair<Symbol, Dim>> symbols_;
  std::unordered_map<Symbol, Dim> extents_;  // the same ones
  bool has_own_symbols_ = false;
};

}  // namespace mir
