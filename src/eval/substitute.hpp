// Attributes with values in place of dimension symbols.
#pragma once

#include "mir/context.hpp"

namespace mir::eval {

/// `value` with each extent in it, also inside arrays and dictionaries, replaced by its value; one
/// whose symbols are not all bound becomes unknown.
const Attr* substitute(IRContext& context, const Attr* value, const DimBindings& bindings);

}  // namespace mir::eval
