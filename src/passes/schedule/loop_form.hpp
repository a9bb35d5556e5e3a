// The loops of a generic op by name, as schedules edit them.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/generic_form.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Loops, maps, sums and conditions of a generic op, before they are written back.
struct LoopForm {
  struct Sum {
    Symbol loop;
    SumKind kind;
    friend bool operator==(const Sum&, const Sum&) = default;
  };

  std::vector<GenericForm::Range> loops;  ///< the outermost first
  std::vector<GenericForm::Range> sizes;
  std::vector<GenericForm::Index> indices;
  std::vector<std::vector<Dim>> maps;   ///< of operands, then of results
  std::vector<std::vector<Sum>> sums;   ///< for each result, in the order of the loops
  std::vector<SymbolRelation> bounds;   ///< of the attribute `bounds`
  std::vector<SymbolRelation> filters;  ///< of the attribute `where`
  std::vector<Symbol> parallel, vector, unroll;

  /// The place of the loop; no value if there is none.
  std::optional<std::size_t> find_loop(std::string_view name, const IRContext& context) const;
  std::span<std::vector<Dim>> result_maps() { return std::span(maps).last(sums.size()); }
  std::span<const std::vector<Dim>> result_maps() const {
    return std::span(maps).last(sums.size());
  }
  /// Replaces a symbol of the op in all maps and conditions.
  void substitute(Symbol name, Dim by, DimTable& dims);
  /// A symbol that the op does not bind yet: `name`, or `name` with a number.
  Symbol new_symbol(std::string_view name, IRContext& context) const;
  /// An extent from around the op, in symbols of the op: a constant, or a symbol of `sizes`, which
  /// gets one if necessary.
  Dim size_of(Dim extent, IRContext& context);
  void drop_unused_sizes(DimTable& dims);
  /// Puts the sums into the order of the loops.
  void order_sums();
};

/// Reads a generic op, which must be verified.
LoopForm read_loops(const Op& op);
/// Writes what differs to the attributes of the op.
void write_loops(Rewriter& rewriter, Op& op, const LoopForm& form);

}  // namespace mir
