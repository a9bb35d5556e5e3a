// Symbolic extents as polynomials: the interned nodes of Dim and the arithmetic on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/dim.hpp"

namespace mir {

/// Limits that keep every extent, and so every recursion over one, small. An extent beyond them
/// counts as overflow.
inline constexpr std::size_t kMaxDimText = 1024;
inline constexpr int kMaxDimDepth = 64;
inline constexpr std::size_t kMaxDimProducts = 1024;  // of terms, in one multiplication

/// `coefficient * factors[0] * factors[1] * ...`; the coefficient is not 0, the factors are
/// symbols, quotients and maxima (in what is printed, remainders and minima too) in order of their
/// text, at least one.
/// `key` is the text of the product without the coefficient.
struct DimTerm {
  std::int64_t coefficient = 1;
  std::vector<const DimExpr*> factors;
  std::string key;
};

/// The sum of terms with different keys, in order of key, and of a constant.
struct Polynomial {
  std::vector<DimTerm> terms;
  std::int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
  bool is_one() const { return terms.empty() && constant == 1; }
  bool is_single_term() const { return terms.size() == 1 && constant == 0; }
  /// The factor that is the whole polynomial, or null.
  const DimExpr* single_factor() const;
};

/// A node that is unique in its table for its text.
class DimExpr {
 public:
  /// Sums have no remainders and no minima: they are written with quotients and with the greater of
  /// a sum and 0 (dim_nodes.cpp, remainders and extrema).
  enum class Kind : std::uint8_t {
    kUnknown,
    kSymbol,
    kQuotient,
    kRemainder,
    kMaximum,  ///< of `left` and 0; in what is printed, of `left` and `right`
    kMinimum,
    kSum
  };

  Kind kind = Kind::kUnknown;
  int depth = 0;                ///< factors that are no symbols on the longest way down
  Symbol name;                  ///< of a symbol
  std::vector<Symbol> symbols;  ///< all that occur, each once, in order of their text
  Polynomial left;              ///< the dividend, the sum, or what is compared
  Polynomial right;             ///< the divisor
  std::string text;             ///< normal form
};

/// Checked 64-bit arithmetic; none on overflow and on division by zero. Division rounds toward
/// negative infinity.
std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> floor_quotient(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> floor_remainder(std::int64_t a, std::int64_t b);

Polynomial constant_polynomial(std::int64_t constant);
Polynomial polynomial_of(const DimExpr* expr);

/// None when a coefficient overflows or the result exceeds the limits.
std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> subtract(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);

/// Returns the coefficient of the term of highest degree (the first in order of factors, if
/// several), which stays leading when common factors are cancelled; of a constant, the constant.
std::int64_t leading_coefficient(const Polynomial& sum);

/// That term, which a sum that is not constant has, without its coefficient.
Polynomial leading_product(const Polynomial& sum);
/// The product of the term's factors without those of `part`, a single term; none when it lacks
/// one of them.
std::optional<Polynomial> cofactor(const DimTerm& term, const Polynomial& part);

/// a and b without what they share. With [.] the floor,
///   [a / b] = whole + [numerator / divisor]
/// wherever b is not 0.
struct ReducedDivision {
  Polynomial whole;
  Polynomial numerator;
  Polynomial divisor;
};

/// The divisor has a positive leading coefficient.
ReducedDivision reduce_division(const Polynomial& a, const Polynomial& b);

/// Normal form, see DimTable.
std::string text_of(const Polynomial& sum);
/// The greatest number that divides the constant and all coefficients; 0 of 0.
std::int64_t common_divisor(const Polynomial& sum);
/// The sum with its constant and all coefficients divided by a number that divides them.
Polynomial divided(const Polynomial& sum, std::int64_t divisor);
/// True if a maximum occurs in it, at any depth.
bool has_maximum(const Polynomial& sum);

/// `left / right` or `left % right`, where `sign` is that character.
std::string text_of(const Polynomial& left, char sign, const Polynomial& right);

int depth_of(const Polynomial& sum);
std::optional<std::int64_t> evaluate(const DimExpr& expr, const DimBindings& bindings);

}  // namespace mir
