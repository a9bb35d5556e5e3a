// Values of dimension symbols, each with the place that it comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/symbol_declarations.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"

namespace mir {

/// Place of an extent. Its text is made only for errors, so that binding allocates nothing.
struct DimPlace {
  enum class Kind : std::uint8_t {
    kCaller,
    kInput,   ///< extent `dim` of input `number`, which is `value`
    kResult,  ///< extent `dim` of result `number` of an op named `name`
    kCache,   ///< the length of the cache `name`
  };
  Kind kind = Kind::kCaller;
  std::size_t dim = 0;
  std::size_t number = 0;
  const Value* value = nullptr;
  std::string_view name = {};  ///< outlives the binder

  std::string text(const IRContext& context) const;
};

class Binder {
 public:
  /// `given` are values that the caller states. The values of declared symbols must be among those
  /// that their declarations admit.
  Binder(IRContext& context, const DimBindings& given, SymbolDeclarations declarations = {});

  /// Forgets all bindings and keeps its memory.
  void restart(const DimBindings& given);
  /// Like restart(), for a run inside of another one. Takes over the outer bindings and
  /// declarations except for the symbols for which `is_own(symbol)` holds.
  void restart_within(const Binder& outer, const std::function<bool(Symbol)>& is_own);

  const DimBindings& bindings() const { return bindings_; }
  const SymbolDeclarations& declarations() const { return declarations_; }
  /// The error of the first value given that its declaration does not admit.
  Result<void> check_given() const;

  enum class Outcome : std::uint8_t {
    kHolds,
    kOpen,  ///< several symbols have no value yet
  };
  /// Takes over the values of symbols that another binder has.
  void take(const Binder& other);
  /// Requires extent `dim`, found at `place`, to be `value`: checks known symbols and binds the one
  /// symbol without a value. The error describes the contradiction and the origin of the other
  /// value. An unknown extent holds for every value.
  Result<Outcome> require(Dim dim, std::int64_t value, const DimPlace& place);
  /// Like require(), for extents that a run requires again and reports then: a contradiction binds
  /// nothing.
  void bind_if_it_fits(Dim dim, std::int64_t value);

 private:
  std::string origins_of(std::span<const Symbol> symbols) const;
  /// Refuses a value that the declaration of the symbol does not admit, or for which a relation
  /// with symbols that have values does not hold.
  Result<Outcome> bind(Symbol symbol, std::int64_t value, const DimPlace& place);
  Result<void> check_declared(Symbol symbol, std::int64_t value, const DimPlace& place) const;
  Result<void> check_relations(Symbol symbol, const DimBindings& values,
                               const DimPlace& place) const;

  IRContext& context_;
  DimBindings bindings_;
  SymbolDeclarations declarations_;
  std::vector<std::pair<Symbol, DimPlace>> origins_;
};

}  // namespace mir
