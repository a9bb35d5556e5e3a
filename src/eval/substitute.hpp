// Attributes with values in place of dimension symbols.
#pragma once

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"

namespace mir::eval {

/// `value` with each extent in it, also inside arrays and dictionaries, replaced by its value; one
/// whose symbols are not all bound becomes unknown. An error where one is below 0: only what the
/// text states as a number may count from the end.
Result<const Attr*> substitute(IRContext& context, const Attr* value, const DimBindings& bindings);

/// "$S-6 is -2".
Error negative_extent(const Attr& extent, std::int64_t value);

}  // namespace mir::eval
