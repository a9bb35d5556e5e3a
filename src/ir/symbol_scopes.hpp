// Which scope a symbol of extents belongs to: the one that gives it its value in a run.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "mir/op.hpp"

namespace mir {

// note [scopes of symbols]
// A symbol belongs to the innermost scope that binds it: by an argument, by the length of a cache,
// or by a result whose extent only the run finds out. Scopes are the module, from kSymbolsVersion
// on each of its graphs, and each region of a control flow op. A symbol that no scope around its
// use within the graph binds is the one of this name where the graph is called.
// Types and attributes are unique in their context and shared by modules, graphs and threads, so a
// symbol in a type is its name alone. Its owner follows from the place of the type. Whoever
// replaces symbols must ask here, or use ExtentSubstitution, which does.

/// Calls `visit` with each symbol whose value data, or the length of a cache, decides in a run of
/// an op. What is inside of the op does not count.
void for_each_symbol_bound_by(const Op& op, const std::function<void(Symbol)>& visit);

/// The symbols whose values data, the length of a cache, or the way to a block decides inside of an
/// op.
std::unordered_set<Symbol> symbols_bound_in(const Op& op);

/// The symbols that belong to a region. The body of a module must have a caller for all of its
/// symbols, so this is for graphs and for regions of control flow ops: a region owns what its ops
/// bind and its blocks join, unless its arguments, values from around it, or the op's operands or
/// results have the symbol. The same name around the region is then another symbol.
std::unordered_set<Symbol> symbols_owned_by(const Region& region);

/// The symbols that a region and the regions nested in it have, without those that the nested ones
/// own and those of nested graphs, but with those that graphs called there take from around calls.
std::unordered_set<Symbol> symbols_of_scope(const Region& region);

/// The symbols that a graph finds out when it runs: it owns them, and neither its arguments nor
/// lengths of caches have them. The symbols that regions in it own do not count.
std::unordered_set<Symbol> symbols_found_out_by(const Op& graph);

/// The symbols that a graph takes from around its calls: neither the graph nor the length of a
/// cache in it, or in a graph that it calls, gives them a value.
std::unordered_set<Symbol> symbols_taken_by(const Op& graph);

/// The values of all symbols but these.
DimBindings without(const DimBindings& values, const std::unordered_set<Symbol>& symbols);

/// Calls `visit(region, values)` for a region and the regions nested in it, each with those of the
/// values whose symbols mean the same there. Nested graphs are left out, and what is nested where
/// no value is left.
void for_each_scope(Region& region, const DimBindings& values,
                    const std::function<void(Region&, const DimBindings&)>& visit);

/// The extent as it is around a scope that owns these symbols: unknown if it has one of them.
Dim outside(Dim extent, const std::unordered_set<Symbol>& owned, DimTable& dims);

/// Extents of a graph as they are around one of its calls.
class ExtentsAtCall {
 public:
  ExtentsAtCall(const Op& call, const Op& graph);
  /// Unknown if the extent has a symbol that the graph binds and its arguments do not.
  Dim at_call(Dim extent) const;

 private:
  DimTable& dims_;
  std::unordered_map<Symbol, Dim> passed_;
  std::unordered_set<Symbol> owned_;
};

/// The numbers that a call determines for symbols of its graph, where the symbols around the call
/// have these values. A graph without a body has no symbols.
DimBindings numbers_passed(const Op& call, const Op& graph, const DimBindings& values);

/// True if ops of a block, or inside of them, find out symbols or append to caches, or if its
/// arguments join symbols. A region around them would hide these symbols.
bool binds_symbols(const Block& block);

/// True if attributes of an op, or types of its operands or results, have one of the symbols. True
/// for any call if there are symbols, because its graph may take them from around the call.
bool has_symbol_of(const Op& op, const std::unordered_set<Symbol>& symbols);

}  // namespace mir
