// Counts the iterations of generic ops whose bounds end tiles.
#include "dialects/generic_iterations.hpp"

#include <algorithm>

#include "extents/dim_expr.hpp"

namespace mir {

namespace {

/// An index that takes each number below the extent once: a loop, or loops over tiles and in them.
struct CountingIndex {
  Dim index;
  Dim extent;
};

/// The number that the index is multiplied by in a sum; no value if it does not occur once.
std::optional<std::int64_t> factor_in(Dim sum, Dim index, const DimTable& dims) {
  const auto names = dims.symbols(index);
  if (names.empty() || sum.is_constant() || sum.is_unknown()) return std::nullopt;
  const auto factor_of = [&](Dim in) -> std::int64_t {
    if (in.is_constant() || in.is_unknown()) return 0;
    for (const DimTerm& term : polynomial_of(in.expr()).terms) {
      const bool is_symbol =
          term.factors.size() == 1 && term.factors[0]->kind == DimExpr::Kind::kSymbol;
      if (is_symbol && term.factors[0]->name == names.front()) return term.coefficient;
    }
    return 0;
  };
  const std::int64_t whole = factor_of(sum), part = factor_of(index);
  if (part == 0 || whole == 0 || whole % part != 0) return std::nullopt;
  return whole / part;
}

/// Replaces the indices of which `sum` counts through all numbers by the sum, which ends at a
/// bound.
void join(std::vector<CountingIndex>& indices, Dim sum, Dim end, DimTable& dims) {
  struct Part {
    std::size_t at = 0;
    std::int64_t factor = 0;
  };
  std::vector<Part> parts;
  Dim rest = sum;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto factor = factor_in(rest, indices[i].index, dims);
    if (!factor) continue;
    parts.push_back({i, *factor});
    rest = dims.subtract(rest, dims.multiply(Dim(*factor), indices[i].index));
  }
  if (rest != Dim(0) || parts.empty()) return;
  std::ranges::sort(parts, {}, &Part::factor);
  // The extent of the outermost index may be a symbol.
  Dim count(1);
  for (const Part& each : parts) {
    if (Dim(each.factor) != count) return;
    count = dims.multiply(count, indices[each.at].extent);
  }
  const bool is_less =
      count.is_constant() && end.is_constant() && count.constant() < end.constant();
  const CountingIndex joined{sum, is_less ? count : end};
  std::ranges::sort(parts, std::ranges::greater(), &Part::at);
  for (const Part& each : parts)
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(each.at));
  indices.push_back(joined);
}

}  // namespace

Dim iterations_of(const GenericForm& form, IRContext& context) {
  DimTable& dims = context.dims();
  std::vector<CountingIndex> indices;
  for (const GenericForm::Range& loop : form.loops) {
    indices.push_back({dims.symbol(context.text(loop.name)), loop.extent});
  }
  std::vector<SymbolRelation> bounds(form.bounds().begin(), form.bounds().end());
  // Inner tiles are counted first.
  std::ranges::stable_sort(
      bounds, {}, [&](const SymbolRelation& each) { return dims.symbols(each.left).size(); });
  for (const SymbolRelation& each : bounds) {
    const Dim end = dims.substitute(each.right, [&](Symbol name) -> std::optional<Dim> {
      const auto size = std::ranges::find(form.sizes, name, &GenericForm::Range::name);
      return size == form.sizes.end() ? std::nullopt : std::optional(size->extent);
    });
    if (!end.is_unknown()) join(indices, each.left, end, dims);
  }
  Dim iterations(1);
  for (const CountingIndex& each : indices) iterations = dims.multiply(iterations, each.extent);
  return iterations;
}

}  // namespace mir
