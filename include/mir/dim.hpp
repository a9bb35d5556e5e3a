// Extents of tensor types: constants, symbolic expressions, or unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/interner.hpp"

namespace mir {

class DimExpr;

/// Ends the name of a pack: `$B..` is any number of extents, in the types of patterns.
inline constexpr std::string_view kPackSuffix = "..";

/// One extent. Expressions are interned in normal form, so equal expressions are equal Dims.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr explicit Dim(std::int64_t constant) : constant_(constant) {}
  static Dim unknown();

  bool is_constant() const { return expr_ == nullptr; }
  bool is_unknown() const;
  bool is_symbolic() const { return !is_constant() && !is_unknown(); }
  /// True for a pack, whose arithmetic is unknown.
  bool is_pack() const;
  /// True for a negative number: dumps print one for an extent that they do not know.
  bool is_negative() const { return is_constant() && constant_ < 0; }
  /// Only for a constant.
  std::int64_t constant() const { return constant_; }
  /// Null for a constant.
  const DimExpr* expr() const { return expr_; }

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  friend class DimTable;
  constexpr explicit Dim(const DimExpr& expr) : expr_(&expr) {}

  const DimExpr* expr_ = nullptr;
  std::int64_t constant_ = 0;
};

/// Values of dimension symbols (`$S` without the `$`), in the order in which they were bound first.
class DimBindings {
 public:
  std::optional<std::int64_t> find(Symbol name) const;
  void bind(Symbol name, std::int64_t value);
  void clear() {
    entries_.clear();
    places_.clear();
  }
  std::span<const std::pair<Symbol, std::int64_t>> entries() const& { return entries_; }
  /// A loop over the entries of a temporary would read freed memory.
  std::span<const std::pair<Symbol, std::int64_t>> entries() && = delete;

 private:
  /// The number of entries up to which comparing each is faster than a table.
  static constexpr std::size_t kFew = 16;

  /// The place of the symbol among the entries; their number if it has no value.
  std::size_t place_of(Symbol name) const;

  std::vector<std::pair<Symbol, std::int64_t>> entries_;
  std::unordered_map<Symbol, std::size_t> places_;  // empty for few entries
};

/// Makes, reads and evaluates symbolic extents: polynomials with 64-bit integer coefficients over
/// symbols and over floor divisions, in one normal form (terms sorted by their text, like terms
/// added, constants folded). A remainder a % b is a - b * (a / b), and text has it where that is
/// shorter, so `4*($S/4)+$S%4` is `$S`. An unknown operand makes the result unknown; arithmetic
/// that overflows 64 bits makes it unknown too, and so does an expression beyond 1024 characters,
/// 64 levels or 1024 products. A divisor that cancels is gone, even where it could be zero.
/// Thread-safe.
class DimTable {
 public:
  explicit DimTable(StringInterner& strings);
  ~DimTable();

  Dim symbol(std::string_view name);
  Dim add(Dim a, Dim b);
  Dim subtract(Dim a, Dim b);
  Dim multiply(Dim a, Dim b);
  /// Rounds toward negative infinity; exact when every coefficient is divisible. Division by a
  /// constant zero is unknown.
  Dim floor_divide(Dim a, Dim b);
  /// a - b * floor(a / b).
  Dim modulo(Dim a, Dim b);

  /// `?`, `-1`, `$S`, `$past+$S`, `4*($S+1)`, `$S/4`, `$S%4`; blanks are allowed between words.
  Result<Dim> parse(std::string_view text);
  /// Normal form; parse(print(d)) == d.
  std::string print(Dim dim) const;

  /// True once an extent with a minimum or a maximum has been made.
  bool has_extrema() const;
  /// The value under the bindings; none when a symbol is unbound, the extent unknown, a divisor
  /// zero, or the arithmetic overflows.
  std::optional<std::int64_t> evaluate(Dim dim, const DimBindings& bindings) const;
  /// Symbols that occur in the extent, each once, in order of their text; valid as long as the
  /// table.
  std::span<const Symbol> symbols(Dim dim) const;
  /// The one value of the one unbound symbol that makes the extent equal `value`, where the extent
  /// is linear in it; none otherwise.
  std::optional<std::pair<Symbol, std::int64_t>> solve(Dim dim, std::int64_t value,
                                                       const DimBindings& bindings) const;
  /// The extent with every occurrence of a bound symbol replaced by its value.
  Dim substitute(Dim dim, const DimBindings& bindings);
  /// The extent with every occurrence of a symbol for which `value` has an extent replaced by that;
  /// unknown if this is.
  Dim substitute(Dim dim, const std::function<std::optional<Dim>(Symbol)>& value);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if two extents can be equal: they are, or one is unknown. Symbols stand for themselves.
bool compatible(Dim a, Dim b);

}  // namespace mir
