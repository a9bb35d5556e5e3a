// Symbols that a graph uses and does not bind.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// True if the graph of a call has a symbol that is not its own: it means the symbol of this name
/// around the call, which so does not find it out. False before kSymbolsVersion.
bool takes_from_around(const Op& call, Symbol symbol);

}  // namespace mir
