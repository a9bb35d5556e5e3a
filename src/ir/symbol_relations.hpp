// Reads relations between dimension symbols.
#pragma once

#include "ir/symbol_declarations.hpp"

namespace mir {

/// Returns the sound relations of an attribute `where`.
SymbolRelations read_relations(const Attr& where, const IRContext& context);

}  // namespace mir
