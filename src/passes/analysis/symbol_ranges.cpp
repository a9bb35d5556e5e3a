#include <algorithm>
#include <limits>
#include <set>

#include "ir/dim_expr.hpp"
#include "mir/analysis.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"

namespace mir {

namespace {

using Range = SymbolRanges::Range;

constexpr Range kAny = {std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::int64_t>::max()};
constexpr Range kExtent = {0, kAny.most};

/// Of all combinations of ends, none where one exceeds 64 bits; `op` is monotone in each operand
/// where the other one is fixed.
template <class Operation>
std::optional<Range> at_corners(Range a, Range b, const Operation& op) {
  Range found = {kAny.most, kAny.least};
  for (const std::int64_t left : {a.least, a.most}) {
    for (const std::int64_t right : {b.least, b.most}) {
      const std::optional<std::int64_t> corner = op(left, right);
      if (!corner) return std::nullopt;
      found = {std::min(found.least, *corner), std::max(found.most, *corner)};
    }
  }
  return found;
}

/// An upper end that is no number: an extent that grows without bound.
bool is_open(Range range) {
  return range.most == kAny.most;
}

std::optional<Range> range_of(const Polynomial& sum);

std::optional<Range> range_of(const DimExpr& factor) {
  if (factor.kind == DimExpr::Kind::kSymbol) return kExtent;
  if (factor.kind != DimExpr::Kind::kQuotient) return std::nullopt;
  const auto dividend = range_of(factor.left), divisor = range_of(factor.right);
  if (!dividend || !divisor || divisor->least < 1) return std::nullopt;
  // An open end stays one: the quotient grows with the dividend.
  auto quotient = at_corners(*dividend, *divisor, floor_quotient);
  if (quotient && is_open(*dividend)) quotient->most = kAny.most;
  return quotient;
}

/// Of what cannot be negative; an open end stays open.
std::optional<Range> product(Range a, Range b) {
  if (a.least < 0 || b.least < 0) return at_corners(a, b, checked_multiply);
  const auto least = checked_multiply(a.least, b.least);
  if (!least) return std::nullopt;
  const bool is_zero = a.most == 0 || b.most == 0;
  const auto most = is_open(a) || is_open(b) ? std::nullopt : checked_multiply(a.most, b.most);
  return Range{*least, is_zero ? 0 : most.value_or(kAny.most)};
}

std::optional<Range> range_of(const DimTerm& term) {
  std::optional<Range> range = Range{1, 1};
  for (const DimExpr* factor : term.factors) {
    const auto one = range_of(*factor);
    range = range && one ? product(*range, *one) : std::nullopt;
  }
  if (!range) return range;
  if (term.coefficient > 0) return product(*range, {term.coefficient, term.coefficient});
  if (is_open(*range)) {
    const auto most = checked_multiply(term.coefficient, range->least);
    return most ? std::optional(Range{kAny.least, *most}) : std::nullopt;
  }
  return at_corners(*range, {term.coefficient, term.coefficient}, checked_multiply);
}

/// Ends that are open stay so.
std::optional<Range> sum_of(Range a, Range b) {
  Range found;
  const auto least = checked_add(a.least, b.least), most = checked_add(a.most, b.most);
  const bool has_least = a.least != kAny.least && b.least != kAny.least;
  const bool has_most = !is_open(a) && !is_open(b);
  if ((has_least && !least) || (has_most && !most)) return std::nullopt;
  found.least = has_least ? *least : kAny.least;
  found.most = has_most ? *most : kAny.most;
  return found;
}

std::optional<Range> range_of(const Polynomial& sum) {
  std::optional<Range> range = Range{sum.constant, sum.constant};
  for (const DimTerm& term : sum.terms) {
    const auto one = range_of(term);
    range = range && one ? sum_of(*range, *one) : std::nullopt;
  }
  return range;
}

}  // namespace

SymbolRanges::SymbolRanges(const Module& module) {
  const IRContext& context = module.context();
  std::set<std::string_view> names;
  const CallGraph calls(module);
  for (const Op* graph : calls.graphs()) {
    const Region* body = graph->first_region();
    if (body == nullptr) continue;
    for (const Value& input : body->entry_arguments()) {
      const TensorType* type = input.tensor_type();
      if (type == nullptr) continue;
      for (const Dim extent : type->dims()) {
        for (const Symbol name : module.context().dims().symbols(extent)) {
          if (names.insert(context.text(name)).second) symbols_.push_back(name);
        }
      }
    }
  }
  std::ranges::sort(symbols_, {}, [&](Symbol name) { return context.text(name); });
}

SymbolRanges::Range SymbolRanges::range(Dim extent) const {
  if (extent.is_constant()) return {extent.constant(), extent.constant()};
  if (extent.is_unknown()) return kExtent;
  const Range found = range_of(polynomial_of(extent.expr())).value_or(kAny);
  return {std::max<std::int64_t>(found.least, 0), std::max<std::int64_t>(found.most, 0)};
}

}  // namespace mir
