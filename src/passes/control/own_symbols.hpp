// Symbols that regions of control flow bind anew each time that they run.
#pragma once

#include <functional>
#include <unordered_set>

#include "mir/op.hpp"

namespace mir {

/// Calls `visit` with each symbol whose value data, or the length of a cache, decides in a run of
/// an op. What is inside of the op does not count.
void for_each_symbol_bound_by(const Op& op, const std::function<void(Symbol)>& visit);

/// The symbols whose values data, or the length of a cache, decides inside of an op.
std::unordered_set<Symbol> symbols_bound_in(const Op& op);

/// True if ops of a block, or inside of them, find out symbols or append to caches, or if its
/// arguments join symbols. A region around them would hide these symbols.
bool binds_symbols(const Block& block);

/// True if attributes of an op or types of its results have one of the symbols.
bool has_symbol_of(const Op& op, const std::unordered_set<Symbol>& symbols);

}  // namespace mir
