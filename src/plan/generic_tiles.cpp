// Splits loops of generic ops at the constants by which maps divide them.
#include "plan/generic_tiles.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "extents/dim_expr.hpp"

namespace mir {

void for_each_extent(GenericForm& form, const std::function<void(Dim&)>& visit) {
  for (auto& map : form.operands) std::ranges::for_each(map, visit);
  for (GenericForm::Result& result : form.results) std::ranges::for_each(result.map, visit);
  for (SymbolRelation& each : form.conditions) visit(each.margin);
}

namespace {

/// The number by which a sum divides a symbol; 0 if it divides the symbol by none, no value if it
/// divides it by several or computes something else with it than sums.
std::optional<std::int64_t> divisor_in(const Polynomial& sum, Symbol name) {
  std::int64_t found = 0;
  for (const DimTerm& term : sum.terms) {
    for (const DimExpr* factor : term.factors) {
      if (factor->kind == DimExpr::Kind::kSymbol ||
          std::ranges::find(factor->symbols, name) == factor->symbols.end()) {
        continue;
      }
      const DimExpr* dividend = factor->left.single_factor();
      const bool is_tile = factor->kind == DimExpr::Kind::kQuotient && dividend != nullptr &&
                           dividend->kind == DimExpr::Kind::kSymbol &&
                           factor->right.is_constant() && factor->right.constant > 1;
      if (!is_tile || (found != 0 && found != factor->right.constant)) return std::nullopt;
      found = factor->right.constant;
    }
  }
  return found;
}

std::int64_t divisor_of(GenericForm& form, Symbol name) {
  std::int64_t found = 0;
  bool is_one = true;
  for_each_extent(form, [&](Dim& extent) {
    if (extent.is_constant()) return;
    const auto divisor = divisor_in(polynomial_of(extent.expr()), name);
    is_one = is_one && divisor && (*divisor == 0 || found == 0 || found == *divisor);
    if (divisor && *divisor != 0) found = *divisor;
  });
  return is_one ? found : 0;
}

/// The number of a loop after loop `split` has become two.
std::size_t after_split(std::size_t loop, std::size_t split) {
  return loop > split ? loop + 1 : loop;
}

/// A symbol that no loop, size or index has.
Dim new_symbol(const NumberedLoops& loops, std::string name, DimTable& dims) {
  while (true) {
    const Dim symbol = dims.symbol(name);
    const Symbol made = dims.symbols(symbol).front();
    const auto is_it = [&](const auto& each) { return each.name == made; };
    const bool is_used = std::ranges::find(loops.names, made) != loops.names.end() ||
                         std::ranges::any_of(loops.form.indices, is_it) ||
                         std::ranges::any_of(loops.form.sizes, is_it);
    if (!is_used) return symbol;
    name += "_";
  }
}

void split_results(GenericForm& form, std::size_t split) {
  for (GenericForm::Result& result : form.results) {
    std::vector<std::size_t> loops;
    for (const std::size_t loop : result.loops) {
      loops.push_back(after_split(loop, split));
      if (loop == split) loops.push_back(split + 1);
    }
    result.loops = std::move(loops);
    std::vector<GenericForm::SummedLoop> sums;
    for (const GenericForm::SummedLoop& each : result.sums) {
      sums.push_back({after_split(each.loop, split), each.sum, each.precision});
      if (each.loop == split) sums.push_back({split + 1, each.sum, each.precision});
    }
    result.sums = std::move(sums);
  }
}

}  // namespace

void split_tiles(NumberedLoops& loops, DimTable& dims) {
  for (std::size_t loop = 0; loop < loops.extents.size(); ++loop) {
    const Symbol name = loops.names[loop];
    const std::int64_t divisor = divisor_of(loops.form, name);
    if (divisor == 0 || loops.extents[loop] % divisor != 0) continue;
    const Dim tile = new_symbol(loops, "tile", dims), rest = new_symbol(loops, "rest", dims);
    const Dim whole = dims.add(dims.multiply(tile, Dim(divisor)), rest);
    for_each_extent(loops.form, [&](Dim& extent) {
      extent = dims.substitute(
          extent, [&](Symbol each) { return each == name ? std::optional(whole) : std::nullopt; });
    });
    split_results(loops.form, loop);
    const auto at = static_cast<std::ptrdiff_t>(loop);
    loops.names[loop] = dims.symbols(tile).front();
    loops.names.insert(loops.names.begin() + at + 1, dims.symbols(rest).front());
    loops.extents[loop] /= divisor;
    loops.extents.insert(loops.extents.begin() + at + 1, divisor);
    loops.zeros.push_back({dims.symbols(rest).front(), divisor});
    ++loop;
  }
}

}  // namespace mir
