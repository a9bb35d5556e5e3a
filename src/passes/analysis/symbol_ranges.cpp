// Computes ranges of extents from the declarations of a module's symbols.
#include <algorithm>
#include <set>

#include "extents/extent_range.hpp"
#include "ir/symbol_declarations.hpp"
#include "ir/type_extents.hpp"
#include "mir/analysis.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"

namespace mir {

SymbolRanges::SymbolRanges(const Module& module) {
  const IRContext& context = module.context();
  std::set<std::string_view> names;
  const CallGraph calls(module);
  for (const Op* graph : calls.graphs()) {
    const Region* body = graph->first_region();
    if (body == nullptr) continue;
    for (const Value& input : body->entry_arguments()) {
      for_each_symbol_of(input.type(), module.context().dims(), [&](Symbol name) {
        if (names.insert(context.text(name)).second) symbols_.push_back(name);
      });
    }
  }
  for (const SymbolDeclaration& each : symbol_declarations(module)) {
    declared_[each.name] = {each.least, each.most};
  }
  std::ranges::sort(symbols_, {}, [&](Symbol name) { return context.text(name); });
}

SymbolRanges::Range SymbolRanges::range(Dim extent) const {
  if (extent.is_constant()) return {extent.constant(), extent.constant()};
  if (extent.is_unknown()) return {0, ExtentRange().most};
  const auto range_of_symbol = [&](Symbol name) -> ExtentRange {
    const auto found = declared_.find(name);
    if (found == declared_.end()) return {0, ExtentRange().most};
    return {found->second.least, found->second.most};
  };
  const auto found =
      range_of(polynomial_of(extent.expr()), range_of_symbol).value_or(ExtentRange());
  return {std::max<std::int64_t>(found.least, 0), std::max<std::int64_t>(found.most, 0)};
}

}  // namespace mir
