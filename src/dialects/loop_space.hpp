// Loops as symbols that an extent prover knows.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dialects/generic_form.hpp"
#include "ir/extent_prover.hpp"

namespace mir {

/// The loops of an op, or of nests around an op, as symbols that a prover knows: renamed if
/// something around them has the same name.
class LoopSpace {
 public:
  /// Everything is borrowed during construction only.
  struct Source {
    IRContext& context;
    const SymbolDeclarations* around = nullptr;  ///< null: nothing is declared
    std::span<const Dim> extents_around;         ///< other extents whose symbols are taken
    std::span<const GenericForm::Range> loops, sizes;
    std::span<const SymbolRelation> conditions;
  };
  explicit LoopSpace(const Source& source);

  bool is_empty() const { return is_empty_; }
  /// True if a loop has an unknown extent, so that nothing can be proved.
  bool is_open() const { return is_open_; }
  std::span<const Symbol> names() const { return names_; }
  std::span<const Dim> extents() const { return extents_; }
  ExtentProver& prover() { return *prover_; }

  /// Returns an extent of a map, over the symbols of the prover. No value if data decides it.
  std::optional<Dim> outside(Dim extent) const;
  /// Returns a condition, over the symbols of the prover. No value if data decides it.
  std::optional<SymbolRelation> outside(const SymbolRelation& condition) const;

 private:
  std::optional<Dim> value_of(Symbol name, bool& is_known) const;
  std::vector<Symbol> outer_symbols(const Source& source) const;
  SymbolDeclarations declarations(const Source& source) const;
  void add_relation(std::vector<SymbolRelation>& relations, const SymbolRelation& made) const;

  IRContext& context_;
  DimTable& dims_;
  std::vector<Symbol> loops_;  // as maps name them
  std::vector<GenericForm::Range> sizes_;
  std::vector<Symbol> names_;
  std::vector<Dim> extents_;
  bool is_empty_ = false, is_open_ = false;
  std::optional<ExtentProver> prover_;
};

}  // namespace mir
