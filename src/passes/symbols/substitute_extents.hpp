// Numbers in place of symbols, wherever ops and values have extents.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

class ExtentSubstitution {
 public:
  /// Both must outlive the object.
  ExtentSubstitution(Rewriter& rewriter, const DimBindings& values)
      : rewriter_(rewriter), context_(rewriter.context()), values_(values) {}

  /// Replaces the symbols in the types and attributes of all values and ops of a region and of what
  /// is nested in it, and in the stated results of regions.
  void apply(Region& region);
  const Type* replaced(const Type* type);

  /// The symbols that were found and those of them that have values.
  const std::set<Symbol>& found() const { return found_; }
  const std::set<Symbol>& bound() const { return bound_; }
  /// The first extent that became a negative number, as it was before.
  std::optional<Dim> negative() const { return negative_; }

 private:
  Dim replaced(Dim extent);
  const Attr* replaced(const Attr* attribute);
  std::vector<NamedAttr> replaced(std::span<const NamedAttr> list);
  void apply(Value& value);
  void apply_to_op(Op& op);
  void apply_to_results(Region& region);

  Rewriter& rewriter_;
  IRContext& context_;
  const DimBindings& values_;
  std::set<Symbol> found_, bound_;
  std::optional<Dim> negative_;
};

}  // namespace mir
