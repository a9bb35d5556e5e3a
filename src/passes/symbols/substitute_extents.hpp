// Numbers in place of symbols, wherever ops and values have extents.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mir/pass.hpp"
#include "mir/rewriter.hpp"

namespace mir {

class ExtentSubstitution {
 public:
  /// Both must outlive the object.
  ExtentSubstitution(Rewriter& rewriter, const DimBindings& values)
      : rewriter_(rewriter), context_(rewriter.context()), values_(values) {}

  /// Replaces the symbols in the types and attributes of all values and ops of a module, and in the
  /// stated results of regions.
  void apply(Module& module);
  /// The same in a graph, without the graphs inside it.
  void apply(Region& graph);
  const Type* replaced(const Type* type);

  /// The symbols of all extents.
  const std::set<Symbol>& found() const { return found_; }
  /// The symbols that became numbers.
  const std::set<Symbol>& bound() const { return bound_; }
  /// The first extent that became a negative number, as it was before.
  std::optional<Dim> negative() const { return negative_; }
  /// An op in the region of another one, or in a block that a branch leads to, that binds a symbol
  /// anew which became a number elsewhere: that one is not meant.
  struct Conflict {
    const Op* op = nullptr;  ///< null: there is none
    Symbol symbol{};
  };
  const Conflict& conflict() const { return conflict_; }

 private:
  Dim replaced(Dim extent);
  const Attr* replaced(const Attr* attribute);
  std::vector<NamedAttr> replaced(std::span<const NamedAttr> list);
  template <class Place>
  void apply_to_all(Place& place);
  void apply(Value& value);
  void apply_to_op(Op& op);
  void apply_to_results(Region& region);
  void find_conflict(const Op& op);

  Rewriter& rewriter_;
  IRContext& context_;
  const DimBindings& values_;
  std::set<Symbol> found_, bound_;
  std::optional<Dim> negative_;
  Conflict conflict_;
};

/// Reports a conflict. False if there is none.
bool refuse_conflict(const PassRun& run, const ExtentSubstitution& substitution);

}  // namespace mir
