// The maximum of symbolic extents, reduced as far as they can be compared.
#include "passes/estimate/maximum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "extents/dim_expr.hpp"

namespace mir {

namespace {

/// True if no term subtracts, so that the sum is at least 0 where all symbols are.
bool adds_only(const Polynomial& sum) {
  const auto is_positive = [](const DimExpr* factor) {
    return factor->kind == DimExpr::Kind::kSymbol || factor->kind == DimExpr::Kind::kMaximum ||
           (factor->kind == DimExpr::Kind::kQuotient && adds_only(factor->left) &&
            adds_only(factor->right));
  };
  return sum.constant >= 0 && std::ranges::all_of(sum.terms, [&](const DimTerm& term) {
           return term.coefficient >= 0 && std::ranges::all_of(term.factors, is_positive);
         });
}

bool is_at_least(DimTable& table, Dim a, Dim b) {
  const Dim difference = table.subtract(a, b);
  if (difference.is_constant()) return difference.constant() >= 0;
  return !difference.is_unknown() && adds_only(polynomial_of(difference.expr()));
}

}  // namespace

void Maximum::add(DimTable& table, Dim extent) {
  constexpr std::size_t kMost = 8;
  if (is_unknown()) return;
  if (extent.is_unknown()) {
    extents_ = {extent};
    return;
  }
  const auto covers = [&](Dim each) { return is_at_least(table, each, extent); };
  if (std::ranges::any_of(extents_, covers)) return;
  std::erase_if(extents_, [&](Dim each) { return is_at_least(table, extent, each); });
  extents_.push_back(extent);
  if (extents_.size() > kMost) extents_ = {Dim::unknown()};
}

void Maximum::add(DimTable& table, const Maximum& other) {
  for (const Dim each : other.extents_) add(table, each);
}

Maximum Maximum::plus(DimTable& table, Dim more) const {
  Maximum sum(table.add(extents_.front(), more));
  for (const Dim each : extents_) sum.add(table, table.add(each, more));
  return sum;
}

std::optional<Dim> Maximum::single() const {
  return extents_.size() == 1 ? std::optional(extents_.front()) : std::nullopt;
}

std::string Maximum::print(const DimTable& table) const {
  if (extents_.size() == 1) return table.print(extents_.front());
  std::vector<std::string> texts;
  for (const Dim each : extents_) texts.push_back(table.print(each));
  return fmt::format("max({})", fmt::join(texts, ", "));
}

}  // namespace mir
