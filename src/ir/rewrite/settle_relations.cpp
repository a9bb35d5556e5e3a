// Removes relations between symbols that a module no longer has.
#include "ir/rewrite/settle_relations.hpp"

#include <algorithm>
#include <set>

#include "ir/extent_walk.hpp"
#include "ir/symbol_declarations.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/rewriter.hpp"

namespace mir {

void settle_relations(Module& module) {
  Op& head = *module.top();
  if (head.attribute(key::kWhere) == nullptr) return;
  IRContext& context = module.context();
  const SymbolDeclarations declarations = symbol_declarations(module);
  const std::set<std::string_view> used = symbols_of_extents(module);
  const auto all = declarations.relations().all();
  std::vector<SymbolRelation> kept(all.begin(), all.end());
  std::erase_if(kept, [&](const SymbolRelation& relation) {
    const auto symbols = relation.symbols(context.dims());
    return std::ranges::any_of(symbols, [&](Symbol symbol) {
      return declarations.find(symbol) == nullptr && !used.contains(context.text(symbol));
    });
  });
  if (kept.size() == all.size()) return;
  Rewriter rewriter(module);
  if (const Attr* where = relations_attribute(kept, context)) {
    return rewriter.set_attribute(head, key::kWhere, where);
  }
  rewriter.remove_attribute(head, key::kWhere);
}

}  // namespace mir
