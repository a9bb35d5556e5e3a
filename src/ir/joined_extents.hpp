// Extents where control meets: of results that several regions pass, and of arguments of blocks.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Returns the symbols that a run of the op decides by the region that it runs. Such a symbol alone
/// is an extent of a result, a region passes another extent there, and no argument around the op
/// has it. Only for ops with results of at least two regions, of which one runs.
std::vector<Symbol> symbols_joined_by(const Op& op);

/// Calls `visit` with each symbol that the arguments of a block join: alone it is an extent of an
/// argument, a branch passes another extent there, and no argument around the blocks has it. The
/// entry of a region joins none; a block that no branch leads to counts as if one did.
void for_each_symbol_joined_by(const Block& block, const std::function<void(Symbol)>& visit);

/// The symbols that a place joins, as one of the ways there passes them.
class JoinedExtents {
 public:
  /// Returns the extents of the results of `op`, to which the end of a region passes values.
  static JoinedExtents at_results(const Op& op, const Op& end, const RegionEdge& edge);
  /// Returns the extents of the arguments of a block, to which the end of another block passes
  /// values.
  static JoinedExtents at_block(const Op& end, const OpExtra::Successor& successor);

  bool empty() const { return extents_.empty(); }
  /// Each symbol with the extent that is passed where the place has the symbol first.
  const std::vector<std::pair<Symbol, Dim>>& extents() const { return extents_; }
  /// A type of the place with the passed extents in place of the symbols.
  const Type* as_passed(const Type* type) const;

 private:
  explicit JoinedExtents(IRContext& context) : context_(context) {}
  void add(Symbol symbol, Dim passed);

  IRContext& context_;
  std::vector<std::pair<Symbol, Dim>> extents_;
};

}  // namespace mir
