// The table of interned extents, and the operations that make new nodes.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <unordered_set>

#include "extents/dim_expr.hpp"
#include "support/unique_table.hpp"

namespace mir {

/// Thread-safe. Nodes live as long as the table.
class DimNodes {
 public:
  explicit DimNodes(StringInterner& strings) : strings_(strings) {}

  /// Null when the name is not an identifier ([A-Za-z_][A-Za-z0-9_]*) or exceeds the limits.
  const DimExpr* symbol(std::string_view name);
  /// The node whose normal form is `text`, if there is one.
  const DimExpr* find(std::string_view text) const;
  /// The node of a sum that is not constant; null when it exceeds the limits, or when reading its
  /// text would.
  const DimExpr* node(const Polynomial& sum);

  /// None on overflow, on division by constant zero and beyond the limits.
  std::optional<Polynomial> quotient(const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> remainder(const Polynomial& a, const Polynomial& b);
  /// True once there is a maximum that is no constant; sums have no minima.
  bool has_maxima() const { return has_maxima_.load(std::memory_order_relaxed); }
  /// No value on overflow and beyond the limits.
  std::optional<Polynomial> maximum(const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> minimum(const Polynomial& a, const Polynomial& b);
  /// Gives the value that replaces a symbol; none keeps it.
  using SymbolValues = std::function<std::optional<Polynomial>(Symbol)>;
  std::optional<Polynomial> substitute(const Polynomial& sum, const SymbolValues& values);

 private:
  const DimExpr* insert(DimExpr node);
  /// True if reading the text of a factor stays within the limits.
  bool factor_reads_back(const DimExpr& factor);
  std::vector<Symbol> symbols_of(const DimExpr& node) const;
  /// `left / right` as one factor.
  std::optional<Polynomial> compound(const Polynomial& left, const Polynomial& right);
  /// Returns the quotient of operands that `reduce` made. A divisor that was not constant before
  /// starts over.
  std::optional<Polynomial> reduced_quotient(const Polynomial& a, const Polynomial& b,
                                             bool was_constant);
  std::optional<Polynomial> substitute(const DimExpr& factor, const SymbolValues& values);
  /// The greater of the sum and 0.
  std::optional<Polynomial> positive_part(const Polynomial& sum);
  /// The greater or the lesser of what the sum under a maximum adds and what it subtracts; for text
  /// only. Null if a number that it subtracts has no opposite.
  const DimExpr* extremum_of(const DimExpr& maximum, DimExpr::Kind kind);
  /// `a % b` for the quotient `a / b`; for text only.
  const DimExpr* remainder_of(const DimExpr& quotient);
  /// The sum as its text shows it: with remainders, maxima and minima wherever they make it
  /// shorter.
  Polynomial shown(const Polynomial& sum);
  std::optional<Polynomial> shown_shorter(const Polynomial& sum);

  StringInterner& strings_;
  std::atomic<bool> has_maxima_ = false;
  mutable std::shared_mutex mutex_;  // guards all below; nodes do not change once inserted
  mutable TextTable<const DimExpr*> by_text_;
  std::deque<DimExpr> nodes_;
  TextTable<const DimExpr*> remainders_;          // by the text of the quotient
  TextTable<const DimExpr*> maxima_, minima_;     // of two sums, by the text of the maximum of one
  std::unordered_set<const DimExpr*> read_back_;  // factors whose texts can be read
};

}  // namespace mir
