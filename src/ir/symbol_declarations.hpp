// Declarations in the head of a module for its dimension symbols.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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

/// The sound declarations of a module, in the order of its head. Copies share them.
class SymbolDeclarations {
 public:
  SymbolDeclarations() = default;
  /// The first one counts of two declarations of a symbol.
  SymbolDeclarations(std::vector<SymbolDeclaration> all);
  /// Returns null if the symbol is not declared.
  const SymbolDeclaration* find(Symbol name) const;
  bool empty() const { return table_ == nullptr; }
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

  std::shared_ptr<const Table> table_;  ///< null if there are none
};

/// Modules of versions before kSymbolsVersion have no declarations. The head of a module is read
/// once, so that it costs nothing to ask at each op.
SymbolDeclarations symbol_declarations(const Module& module);

/// A declaration that is wrong, as verification reports it.
struct SymbolDeclarationError {
  std::string message;
  std::string_view nearest{};  ///< the key that was probably meant; may be empty
};
/// Returns what is wrong with the attribute, in the order of its text.
std::vector<SymbolDeclarationError> errors_of_symbol_declarations(const Attr& symbols,
                                                                  const IRContext& context);

}  // namespace mir
