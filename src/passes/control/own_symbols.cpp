#include "passes/control/own_symbols.hpp"

#include <algorithm>

#include "dialects/parameters.hpp"
#include "ir/extent_walk.hpp"
#include "ir/joined_extents.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

void for_each_symbol_bound_by(const Op& op, const std::function<void(Symbol)>& visit) {
  for_each_symbol_found_out(op, visit);
  const Attr* past = cache_of(op) ? op.attribute(key::kPast) : nullptr;
  if (past == nullptr || past->kind() != AttrKind::kDim) return;
  std::ranges::for_each(op.module().context().dims().symbols(past->dim()), visit);
}

std::unordered_set<Symbol> symbols_bound_in(const Op& op) {
  std::unordered_set<Symbol> bound;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for_each_op(*region, [&](const Op& inner) {
      for_each_symbol_bound_by(inner, [&](Symbol symbol) { bound.insert(symbol); });
    });
  }
  return bound;
}

bool binds_symbols(const Block& block) {
  bool binds = false;
  for_each_symbol_joined_by(block, [&](Symbol) { binds = true; });
  const auto look = [&](const Op& op) { binds = binds || finds_out_symbols(op) || cache_of(op); };
  for (const Op* op : block.ops()) {
    if (op->has(Trait::kIsolated)) continue;  // a graph, which runs elsewhere
    look(*op);
    for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, look);
    }
  }
  return binds;
}

bool has_symbol_of(const Op& op, const std::unordered_set<Symbol>& symbols) {
  if (symbols.empty()) return false;
  DimTable& dims = op.module().context().dims();
  bool found = false;
  for_each_extent_of(op, [&](Dim extent) {
    if (!extent.is_symbolic() || extent.is_pack()) return;
    for (const Symbol symbol : dims.symbols(extent)) found = found || symbols.contains(symbol);
  });
  return found;
}

}  // namespace mir
