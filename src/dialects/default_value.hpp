// Defaults of attributes as values.
#pragma once

#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

/// What the attribute is where an op does not state it; null where the row has no default, or one
/// that only a run knows.
const Attr* default_value(IRContext& context, const AttrRow& row);

/// Takes attributes off that say what their ops mean without them. Programs state such; graphs
/// need not.
void leave_defaults_out(Module& module);

}  // namespace mir
