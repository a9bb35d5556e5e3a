// Relates index maps of generic ops to the extents of loops.
#include <algorithm>

#include "dialects/generic_form.hpp"
#include "extents/dim_expr.hpp"
#include "ir/type_extents.hpp"

namespace mir {

std::optional<Dim> bound_of(Dim index, std::span<const SymbolRelation> bounds,
                            std::span<const Symbol> names, DimTable& dims) {
  for (const SymbolRelation& each : bounds) {
    const Dim extent = dims.add(dims.add(each.margin, index), Dim(1));
    if (extent.is_unknown()) continue;
    bool has_loop = false;
    for_each_symbol_of(extent, dims, [&](Symbol name) {
      has_loop = has_loop || std::ranges::find(names, name) != names.end();
    });
    if (!has_loop) return extent;
  }
  return std::nullopt;
}

namespace {

/// One loop in an index that is linear in its loops.
struct Stride {
  std::size_t loop = 0;
  Dim factor;  ///< without its sign
  bool is_negative = false;
};

struct LinearIndex {
  std::vector<Stride> strides;
  Dim rest;  ///< what has no loop
};

/// Returns the index as a sum of products of one loop each. No value if it is none.
std::optional<LinearIndex> linear_in(Dim index, std::span<const Symbol> names, DimTable& dims) {
  LinearIndex linear;
  if (index.is_constant()) {
    linear.rest = index;
    return linear;
  }
  const Polynomial sum = polynomial_of(index.expr());
  linear.rest = Dim(sum.constant);
  for (const DimTerm& term : sum.terms) {
    std::optional<std::size_t> loop;
    Dim factor(term.coefficient < 0 ? -term.coefficient : term.coefficient);
    for (const DimExpr* each : term.factors) {
      const bool has_loop = std::ranges::any_of(each->symbols, [&](Symbol symbol) {
        return std::ranges::find(names, symbol) != names.end();
      });
      if (has_loop && (loop || each->kind != DimExpr::Kind::kSymbol)) return std::nullopt;
      if (has_loop) {
        loop = static_cast<std::size_t>(std::ranges::find(names, each->name) - names.begin());
        continue;
      }
      const auto read = dims.parse(each->text);
      factor = read ? dims.multiply(factor, *read) : Dim::unknown();
    }
    if (factor.is_unknown()) return std::nullopt;
    if (loop) {
      linear.strides.push_back({*loop, factor, term.coefficient < 0});
    } else {
      linear.rest =
          term.coefficient < 0 ? dims.subtract(linear.rest, factor) : dims.add(linear.rest, factor);
    }
  }
  return linear.rest.is_unknown() ? std::nullopt : std::optional(linear);
}

/// The index at one end of each loop: the greatest, or the least. Factors are not negative.
Dim end_of(const LinearIndex& linear, std::span<const Dim> extents, bool greatest, DimTable& dims) {
  Dim end = linear.rest;
  for (const Stride& each : linear.strides) {
    if (each.is_negative == greatest) continue;
    const Dim distance = dims.multiply(each.factor, dims.subtract(extents[each.loop], Dim(1)));
    end = greatest ? dims.add(end, distance) : dims.subtract(end, distance);
  }
  return end;
}

}  // namespace

std::vector<Dim> reached_extents(std::span<const Dim> map, std::span<const Symbol> names,
                                 std::span<const Dim> extents, DimTable& dims) {
  std::vector<Dim> reached;
  for (const Dim index : map) {
    const auto linear = linear_in(index, names, dims);
    reached.push_back(linear ? dims.add(end_of(*linear, extents, true, dims), Dim(1))
                             : Dim::unknown());
  }
  return reached;
}

bool counts_each_element_once(const GenericForm::Result& result, std::span<const Symbol> names,
                              std::span<const Dim> extents, DimTable& dims) {
  std::vector<std::size_t> seen;
  for (const Dim index : result.map) {
    auto linear = linear_in(index, names, dims);
    if (!linear || end_of(*linear, extents, false, dims) != Dim(0)) return false;
    // Digits of a mixed radix: each stride is the number of indices below it.
    Dim count(1);
    while (!linear->strides.empty()) {
      const auto next = std::ranges::find(linear->strides, count, &Stride::factor);
      if (next == linear->strides.end() || std::ranges::find(seen, next->loop) != seen.end()) {
        return false;
      }
      seen.push_back(next->loop);
      count = dims.multiply(count, extents[next->loop]);
      linear->strides.erase(next);
    }
  }
  return seen.size() == result.loops.size();
}

}  // namespace mir
