// Numbers or other names in place of symbols, wherever ops and values of their scope have extents.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mir/pass.hpp"
#include "mir/rewriter.hpp"

namespace mir {

class ExtentSubstitution {
 public:
  /// The rewriter must outlive the object.
  explicit ExtentSubstitution(Rewriter& rewriter)
      : rewriter_(rewriter), context_(rewriter.context()) {}

  /// Replaces the symbols in the types and attributes of all values and ops of a region and of the
  /// regions nested in it, and in the stated results of regions. Leaves symbols of the same name
  /// that nested regions and graphs own.
  void apply(Region& region, const DimBindings& values);
  /// Like the above, for several regions. All symbols keep the owners that they had before: a graph
  /// does not tell any more what it took from around its calls.
  void apply(std::span<const std::pair<Region*, DimBindings>> regions);
  const Type* replaced(const Type* type, const DimBindings& values);
  /// Gives the symbols of a name another one, in all scopes of the module, whose head stays. No
  /// symbol of the module may have that name.
  void rename(Symbol symbol, Symbol name);

  /// The symbols that became numbers.
  const std::set<Symbol>& bound() const { return bound_; }
  struct NegativeExtent {
    Dim extent;  ///< as it was before
    std::int64_t value = 0;
  };
  /// The first extent that became a negative number.
  std::optional<NegativeExtent> negative() const { return negative_; }
  /// An op in a block that a branch leads to. It binds a symbol that became a number elsewhere, or
  /// begins a block that joins one.
  struct Conflict {
    const Op* op = nullptr;  ///< null: there is none
    Symbol symbol{};
  };
  const Conflict& conflict() const { return conflict_; }

 private:
  void use(const DimBindings& values);
  void apply_here(Region& region);
  Dim replaced(Dim extent);
  const Type* replaced(const Type* type);
  const Attr* replaced(const Attr* attribute);
  std::vector<NamedAttr> replaced(std::span<const NamedAttr> list);
  void apply(Value& value);
  void apply(Op& op);
  void find_conflict(const Region& region);

  Rewriter& rewriter_;
  IRContext& context_;
  std::function<std::optional<Dim>(Symbol)> value_;  // of symbols of the region at hand
  std::set<Symbol> bound_;
  std::optional<NegativeExtent> negative_;
  Conflict conflict_;
};

/// Reports a conflict. False if there is none.
bool refuse_conflict(const PassRun& run, const ExtentSubstitution& substitution);

}  // namespace mir
