// Finds the scope that gives a symbol its value: a module, graph, region or block.
#include "ir/symbol_scopes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/call_types.hpp"
#include "ir/context/language_versions.hpp"
#include "ir/extent_walk.hpp"
#include "ir/inherited_symbols.hpp"
#include "ir/joined_extents.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

using SymbolSet = std::unordered_set<Symbol>;

bool appends_to_cache(const Op& op) {
  return op.is(OpId::kLinalgKVCache);
}

void for_each_symbol_of_past(const Op& op, const std::function<void(Symbol)>& visit) {
  const Attr* past = appends_to_cache(op) ? op.attribute(key::kPast) : nullptr;
  if (past == nullptr || past->kind() != AttrKind::kDim) return;
  std::ranges::for_each(op.module().context().dims().symbols(past->dim()), visit);
}

const Region* region_of(const Value& value) {
  if (value.is_free()) return value.free_in();
  const Op* op = value.defining_op();
  return op != nullptr ? op->parent_region() : value.argument_of()->parent();
}

/// Removes what has one value inside of a region and around it.
void drop_symbols_around(SymbolSet& owned, const Region& region) {
  const Op& parent = *region.parent();
  DimTable& dims = parent.module().context().dims();
  const auto drop = [&](const Value& value) {
    for_each_symbol_of(value.type(), dims, [&](Symbol symbol) { owned.erase(symbol); });
  };
  for (const Value& argument : region.entry_arguments()) drop(argument);
  for (const Value& result : parent.results()) drop(result);
  for (const Use& use : parent.operand_uses()) drop(*use.value());
  for_each_op(region, [&](const Op& op) {
    for (const Use& use : op.operand_uses()) {
      if (!region_of(*use.value())->sees(region)) drop(*use.value());
    }
  });
}

/// Calls `visit` with each symbol that the blocks of a region join.
void for_each_symbol_joined_in(const Region& region, const std::function<void(Symbol)>& visit) {
  if (!region.has_several_blocks()) return;
  for (const Block* block : region.blocks()) for_each_symbol_joined_by(*block, visit);
}

template <class Visit>
void for_each_nested_region(const Region& region, const Visit& visit) {
  for_each_child(region, [&](const Op& op) {
    if (op.has(Trait::kTemplate) || op.is(OpId::kGraphSubGraph)) return;
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) visit(*inner);
  });
}

/// The symbols that a region has itself, without nested ones.
void add_symbols_of(const Region& region, SymbolSet& symbols) {
  DimTable& dims = region.parent()->module().context().dims();
  const auto add = [&](Symbol symbol) { symbols.insert(symbol); };
  for (const Value* value : region.free_values()) for_each_symbol_of(value->type(), dims, add);
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) for_each_symbol_of(argument.type(), dims, add);
  }
  for_each_child(region, [&](const Op& op) {
    for_each_extent_of(op, [&](Dim extent) { for_each_symbol_of(extent, dims, add); });
  });
}

bool have_own_symbols(const Module& module) {
  return module.version() >= kSymbolsVersion;
}

/// The symbols that graphs own and those that they take from around their calls, found once for
/// each. A graph that calls itself, which verification refuses, meets empty sets.
class OwnersOfGraphs {
 public:
  const SymbolSet& owned_by(const Region& body) {
    if (!owned_.try_emplace(&body).second) return owned_.at(&body);
    SymbolSet found = find(body);
    return owned_.at(&body) = std::move(found);
  }

  const SymbolSet& taken_by(const Region& body) {
    if (!taken_.try_emplace(&body).second) return taken_.at(&body);
    SymbolSet found = used_in(body);
    for (const Symbol own : owned_by(body)) found.erase(own);
    return taken_.at(&body) = std::move(found);
  }

  /// See symbols_of_scope().
  SymbolSet used_in(const Region& region) {
    SymbolSet symbols;
    add_symbols_of(region, symbols);
    for_each_child(region, [&](const Op& op) {
      const Region* const body = body_called_by(op);
      if (body != nullptr) symbols.insert(taken_by(*body).begin(), taken_by(*body).end());
    });
    for_each_nested_region(region, [&](const Region& inner) {
      SymbolSet nested = used_in(inner);
      for (const Symbol own : owned_inside(inner)) nested.erase(own);
      symbols.merge(nested);
    });
    return symbols;
  }

  /// See symbols_owned_by().
  SymbolSet owned_inside(const Region& region) {
    const Op& parent = *region.parent();
    if (parent.is(OpId::kGraphSubGraph)) {
      return have_own_symbols(parent.module()) ? owned_by(region) : SymbolSet();
    }
    SymbolSet owned;
    if (parent.has(Trait::kIsolated)) return owned;
    const auto add = [&](Symbol symbol) { owned.insert(symbol); };
    for_each_symbol_joined_in(region, add);
    for_each_child(region, [&](const Op& op) {
      if (!op.has(Trait::kIsolated)) add_bound_by(op, owned);
    });
    if (!owned.empty()) drop_symbols_around(owned, region);
    return owned;
  }

  bool takes_from_around(const Op& call, Symbol symbol) {
    if (!have_own_symbols(call.module())) return false;
    const Region* const body = body_called_by(call);
    return body != nullptr && taken_by(*body).contains(symbol);
  }

 private:
  static const Region* body_called_by(const Op& op) {
    const Op* const graph = op.is(OpId::kGraphCallGraph) ? called_graph(op) : nullptr;
    return graph == nullptr ? nullptr : graph->first_region();
  }

  /// Like symbols_bound_in(), for graphs that may call themselves.
  SymbolSet bound_in(const Op& op) {
    SymbolSet bound;
    const auto add = [&](Symbol symbol) { bound.insert(symbol); };
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      for_each_region(*region, [&](const Region& each) { for_each_symbol_joined_in(each, add); });
      for_each_op(*region, [&](const Op& inner) { add_bound_by(inner, bound); });
    }
    return bound;
  }

  /// Like for_each_symbol_bound_by(), likewise.
  void add_bound_by(const Op& op, SymbolSet& bound) {
    const auto add = [&](Symbol symbol) { bound.insert(symbol); };
    if (!op.is(OpId::kGraphCallGraph)) return for_each_symbol_bound_by(op, add);
    for_each_symbol_of_results_alone(op, [&](Symbol symbol) {
      if (!takes_from_around(op, symbol)) add(symbol);
    });
  }

  SymbolSet find(const Region& body) {
    SymbolSet owned;
    DimTable& dims = body.parent()->module().context().dims();
    const auto add = [&](Symbol symbol) { owned.insert(symbol); };
    for (const Value& argument : body.entry_arguments())
      for_each_symbol_of(argument.type(), dims, add);
    for_each_symbol_joined_in(body, add);
    for_each_child(body, [&](const Op& op) {
      if (op.has(Trait::kIsolated)) return;
      for_each_symbol_of_past(op, add);
      // Regions pass symbols that they find out, and symbols that they take from around the op.
      const bool has_flow = op.first_region() != nullptr && region_edges(op);
      const SymbolSet inside = has_flow ? bound_in(op) : SymbolSet();
      for_each_symbol_of_results_alone(op, [&](Symbol symbol) {
        const bool is_taken = has_flow ? !inside.contains(symbol) : takes_from_around(op, symbol);
        if (!is_taken) owned.insert(symbol);
      });
      if (op.first_region() != nullptr) for_each_symbol_found_out(op, add);
    });
    return owned;
  }

  std::unordered_map<const Region*, SymbolSet> owned_, taken_;
};

}  // namespace

void for_each_symbol_bound_by(const Op& op, const std::function<void(Symbol)>& visit) {
  for_each_symbol_found_out(op, visit);
  for_each_symbol_of_past(op, visit);
}

SymbolSet symbols_bound_in(const Op& op) {
  SymbolSet bound;
  const auto add = [&](Symbol symbol) { bound.insert(symbol); };
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for_each_region(*region, [&](const Region& each) { for_each_symbol_joined_in(each, add); });
    for_each_op(*region, [&](const Op& inner) { for_each_symbol_bound_by(inner, add); });
  }
  return bound;
}

namespace {

/// Adds the lengths of caches in the graphs that ops of a region call, directly or through others.
void add_lengths_in_callees(const Region& region, std::unordered_set<const Op*>& seen,
                            SymbolSet& lengths) {
  for_each_op(region, [&](const Op& op) {
    for_each_symbol_of_past(op, [&](Symbol symbol) { lengths.insert(symbol); });
    const Op* const graph = op.is(OpId::kGraphCallGraph) ? called_graph(op) : nullptr;
    if (graph == nullptr || graph->first_region() == nullptr || !seen.insert(graph).second) return;
    add_lengths_in_callees(*graph->first_region(), seen, lengths);
  });
}

}  // namespace

SymbolSet symbols_owned_by(const Region& region) {
  return OwnersOfGraphs().owned_inside(region);
}

bool takes_from_around(const Op& call, Symbol symbol) {
  return OwnersOfGraphs().takes_from_around(call, symbol);
}

SymbolSet symbols_of_scope(const Region& region) {
  return OwnersOfGraphs().used_in(region);
}

SymbolSet symbols_found_out_by(const Op& graph) {
  const Region* const body = graph.first_region();
  if (body == nullptr) return {};
  SymbolSet found = OwnersOfGraphs().owned_by(*body);
  const auto drop = [&](Symbol symbol) { found.erase(symbol); };
  for (const Value& argument : body->entry_arguments()) {
    for_each_symbol_of(argument.type(), graph.module().context().dims(), drop);
  }
  for_each_child(*body, [&](const Op& op) { for_each_symbol_of_past(op, drop); });
  return found;
}

SymbolSet symbols_taken_by(const Op& graph) {
  const Region& body = *graph.first_region();
  SymbolSet taken = OwnersOfGraphs().taken_by(body), lengths;
  std::unordered_set<const Op*> seen;
  add_lengths_in_callees(body, seen, lengths);
  for (const Symbol length : lengths) taken.erase(length);
  return taken;
}

DimBindings without(const DimBindings& values, const SymbolSet& symbols) {
  if (symbols.empty()) return values;
  DimBindings kept;
  for (const auto& [symbol, value] : values.entries()) {
    if (!symbols.contains(symbol)) kept.bind(symbol, value);
  }
  return kept;
}

void for_each_scope(Region& region, const DimBindings& values,
                    const std::function<void(Region&, const DimBindings&)>& visit) {
  visit(region, values);
  for_each_nested_region(region, [&](Region& inner) {
    if (values.entries().empty()) return for_each_scope(inner, values, visit);
    SymbolSet owned = symbols_owned_by(inner), lengths;
    std::unordered_set<const Op*> seen;
    add_lengths_in_callees(inner, seen, lengths);
    if (!lengths.empty()) drop_symbols_around(lengths, inner);
    owned.merge(lengths);
    for_each_scope(inner, without(values, owned), visit);
  });
}

Dim outside(Dim extent, const SymbolSet& owned, DimTable& dims) {
  bool is_known = true;
  for_each_symbol_of(extent, dims, [&](Symbol symbol) { is_known &= !owned.contains(symbol); });
  return is_known ? extent : Dim::unknown();
}

ExtentsAtCall::ExtentsAtCall(const Op& call, const Op& graph)
    : dims_(call.module().context().dims()) {
  const Region& body = *graph.first_region();
  const CallTypes types = CallTypes::of(call, body);
  passed_ = {types.symbols().begin(), types.symbols().end()};
  if (!CallTypes::are_own(call, graph)) return;
  owned_ = symbols_owned_by(body);
  for (const auto& [symbol, extent] : passed_) owned_.erase(symbol);
}

Dim ExtentsAtCall::at_call(Dim extent) const {
  if (!extent.is_symbolic() || extent.is_pack()) return extent;
  return dims_.substitute(outside(extent, owned_, dims_), [&](Symbol symbol) {
    const auto found = passed_.find(symbol);
    return found == passed_.end() ? std::optional<Dim>() : std::optional(found->second);
  });
}

DimBindings numbers_passed(const Op& call, const Op& graph, const DimBindings& values) {
  DimBindings numbers;
  if (graph.first_region() == nullptr) return numbers;
  DimTable& dims = call.module().context().dims();
  const CallTypes types = CallTypes::of(call, *graph.first_region());
  SymbolSet determined;
  for (const auto& [symbol, extent] : types.symbols()) {
    determined.insert(symbol);
    const Dim number = dims.substitute(extent, values);
    if (number.is_constant() && !number.is_negative()) numbers.bind(symbol, number.constant());
  }
  const auto is_open = [&](const auto& value) { return !determined.contains(value.first); };
  if (std::ranges::none_of(values.entries(), is_open)) return numbers;
  const SymbolSet owned =
      CallTypes::are_own(call, graph) ? symbols_owned_by(*graph.first_region()) : SymbolSet();
  for (const auto& [symbol, value] : values.entries()) {
    if (!determined.contains(symbol) && !owned.contains(symbol)) numbers.bind(symbol, value);
  }
  return numbers;
}

bool binds_symbols(const Block& block) {
  bool binds = false;
  for_each_symbol_joined_by(block, [&](Symbol) { binds = true; });
  const auto look = [&](const Op& op) {
    binds = binds || finds_out_symbols(op) || appends_to_cache(op);
  };
  for (const Op* op : block.ops()) {
    if (op->has(Trait::kIsolated)) continue;  // a graph, which runs elsewhere
    look(*op);
    for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, look);
    }
    binds = binds || (op->first_region() != nullptr && !symbols_bound_in(*op).empty());
  }
  return binds;
}

bool has_symbol_of(const Op& op, const SymbolSet& symbols) {
  if (symbols.empty()) return false;
  if (callee_of(op)) return true;
  DimTable& dims = op.module().context().dims();
  bool found = false;
  const auto look = [&](Symbol symbol) { found = found || symbols.contains(symbol); };
  for_each_extent_of(op, [&](Dim extent) { for_each_symbol_of(extent, dims, look); });
  for (const Use& use : op.operand_uses()) for_each_symbol_of(use.value()->type(), dims, look);
  return found;
}

}  // namespace mir
