// Extents over numbered symbols, ready to be evaluated: index maps and conditions of loops.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "extents/dim_expr.hpp"
#include "mir/dim.hpp"

namespace mir {

/// An extent over numbered symbols.
class CompiledExtent {
 public:
  /// No value if the extent has a symbol without a number.
  static std::optional<CompiledExtent> compile(Dim extent, std::span<const Symbol> names);

  /// No value on overflow and on division by 0. `values` has one for each name.
  std::optional<std::int64_t> value(std::span<const std::int64_t> values) const;
  /// Like value(), for several iterations. A name whose number changes has a list of `out.size()`
  /// numbers in `lists`, by name; that of others is null. Returns false where value() has none.
  bool values(std::span<const std::int64_t> values, std::span<const std::int64_t* const> lists,
              std::span<std::int64_t> out) const;
  /// True if it is a sum of symbols times numbers.
  bool is_linear() const { return is_linear_; }
  /// True if it is a number times the symbol and something that does not depend on the symbol.
  bool is_linear_in(std::size_t name) const;
  bool depends_on(std::size_t name) const { return depends_on(sum_, name); }
  /// Difference for one step of a symbol in which it is linear.
  std::int64_t step(std::size_t name) const { return steps_[name]; }
  /// Removes quotients of a symbol by a number, which are 0 in every iteration.
  void drop_quotient(std::size_t name, std::int64_t divisor);
  /// The sum without its terms.
  std::int64_t constant() const { return sum_.constant; }

 private:
  struct Factor;
  struct Term {
    std::int64_t coefficient = 1;
    std::vector<Factor> factors;
  };
  struct Sum {
    std::int64_t constant = 0;
    std::vector<Term> terms;
  };
  struct Factor {
    DimExpr::Kind kind = DimExpr::Kind::kSymbol;
    std::size_t name = 0;                    // of a symbol
    std::shared_ptr<const Sum> left, right;  // of quotients and maxima
  };

  static std::optional<Sum> compile(const Polynomial& sum, std::span<const Symbol> names);
  static std::optional<std::int64_t> value(const Sum& sum, std::span<const std::int64_t> values);
  static std::optional<std::int64_t> value(const Factor& factor,
                                           std::span<const std::int64_t> values);
  struct Numbers {
    std::span<const std::int64_t> values;
    std::span<const std::int64_t* const> lists;
  };
  static bool add_term(const Term& term, const Numbers& numbers, std::span<std::int64_t> out);
  static bool values(const Sum& sum, const Numbers& numbers, std::span<std::int64_t> out);
  static bool values(const Factor& factor, const Numbers& numbers, std::span<std::int64_t> out);
  static bool changes(const Term& term, const Numbers& numbers);
  static bool depends_on(const Sum& sum, std::size_t name);
  static bool depends_on(const Term& term, std::size_t name);
  void find_steps(std::size_t name_count);

  Sum sum_;
  bool is_linear_ = false;
  std::vector<std::int64_t> steps_;
};

}  // namespace mir
