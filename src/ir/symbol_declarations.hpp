// Declarations and relations in the head of a module for its dimension symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "extents/dim_expr.hpp"
#include "ir/context/language_versions.hpp"
#include "mir/module.hpp"

namespace mir {

// Words of a module's head: `symbols:{S:{min:1,max:4096,multiple:32}}`.
inline constexpr std::string_view kSymbolMin = "min";
inline constexpr std::string_view kSymbolMax = "max";
inline constexpr std::string_view kSymbolMultiple = "multiple";

/// The values of a symbol: the multiples of `multiple` from `least` to `most`, both included.
struct SymbolDeclaration {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  Symbol name;
  std::int64_t least = 0;
  std::int64_t most = kUnbounded;
  std::int64_t multiple = 1;  ///< at least 1

  bool admits(std::int64_t value) const {
    return value >= least && value <= most && value % multiple == 0;
  }
  /// The factors of `multiple` whose products the values are.
  std::int64_t first_factor() const { return least / multiple + (least % multiple != 0 ? 1 : 0); }
  std::int64_t last_factor() const {
    return most == kUnbounded ? kUnbounded : *floor_quotient(most, multiple);
  }
  bool is_empty() const { return first_factor() > last_factor(); }
  /// "1 to 4096, a multiple of 32".
  std::string text() const;
};

/// A condition on the values of symbols that have one at the same time: `$S <= $T`.
struct SymbolRelation {
  enum class Comparison : std::uint8_t { kEqual, kAtMost, kAtLeast, kLess, kGreater };

  Comparison comparison = Comparison::kEqual;
  Dim left, right;
  /// Is 0 where an equation holds, and at least 0 where another relation does.
  Dim margin{};

  bool is_equation() const { return comparison == Comparison::kEqual; }
  /// The symbols of both sides, each once.
  std::vector<Symbol> symbols(const DimTable& dims) const;
  /// No value if a symbol has none. A relation that divides by 0 does not hold.
  std::optional<bool> holds(const DimTable& dims, const DimBindings& values) const;
  /// "$H%$G == 0", which reads back as the same relation.
  std::string text(const DimTable& dims) const;
  /// The relation with `value(symbol)` in place of each symbol for which it has an extent. No value
  /// if a side has no normal form.
  std::optional<SymbolRelation> substitute(
      DimTable& dims, const std::function<std::optional<Dim>(Symbol)>& value) const;
};

/// The sound relations of a module, in the order of its head. Copies share them.
class SymbolRelations {
 public:
  SymbolRelations() = default;
  SymbolRelations(std::vector<SymbolRelation> all, const DimTable& dims);
  bool empty() const { return table_ == nullptr; }
  std::span<const SymbolRelation> all() const {
    return table_ == nullptr ? std::span<const SymbolRelation>() : table_->all;
  }
  /// The places in all() of the relations that have the symbol.
  std::span<const std::size_t> places_of(Symbol symbol) const;
  /// The first relation with the symbol that does not hold for the values. Null if there is none.
  const SymbolRelation* broken_by(Symbol symbol, const DimTable& dims,
                                  const DimBindings& values) const;

 private:
  struct Table {
    std::vector<SymbolRelation> all;
    std::unordered_map<Symbol, std::vector<std::size_t>> places;
  };
  std::shared_ptr<const Table> table_;  ///< null if there are none
};

/// The sound declarations of a module, in the order of its head. Copies share them.
class SymbolDeclarations {
 public:
  SymbolDeclarations() = default;
  /// The first one counts of two declarations of a symbol.
  SymbolDeclarations(std::vector<SymbolDeclaration> all, SymbolRelations relations = {});
  /// Returns the declarations with these relations in place of their own.
  SymbolDeclarations with(SymbolRelations relations) const;
  /// Returns null if the symbol is not declared.
  const SymbolDeclaration* find(Symbol name) const;
  const SymbolRelations& relations() const { return relations_; }
  /// True if all values are declared, and no relation between them is broken.
  bool admit(const DimBindings& values, const DimTable& dims) const;
  /// True if there are neither declarations nor relations.
  bool empty() const { return table_ == nullptr && relations_.empty(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }

 private:
  struct Table {
    std::vector<SymbolDeclaration> all;
    std::unordered_map<Symbol, std::size_t> places;
  };
  std::span<const SymbolDeclaration> all() const {
    return table_ == nullptr ? std::span<const SymbolDeclaration>() : table_->all;
  }

  std::shared_ptr<const Table> table_;  ///< null if there are no declarations
  SymbolRelations relations_;
};

/// Modules of versions before kSymbolsVersion have no declarations. The head of a module is read
/// once, so that it costs nothing to ask at each op. Relations are those of `where`.
SymbolDeclarations symbol_declarations(const Module& module);

/// A declaration that is wrong, as verification reports it.
struct SymbolDeclarationError {
  std::string message;
  std::string_view nearest{};  ///< the key that was probably meant; may be empty
};
/// Returns what is wrong with the attribute, in the order of its text.
std::vector<SymbolDeclarationError> errors_of_symbol_declarations(const Attr& symbols,
                                                                  const IRContext& context);
/// Returns what is wrong with an attribute of relations, in the order of its text. Messages name
/// the key.
std::vector<SymbolDeclarationError> errors_of_symbol_relations(const Attr& relations,
                                                               const IRContext& context,
                                                               AttrKey key);
/// The attribute `where` with these relations; null if there are none.
const Attr* relations_attribute(std::span<const SymbolRelation> relations, IRContext& context);

}  // namespace mir
