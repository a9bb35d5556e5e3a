// Relations between symbols that a module no longer has.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Removes relations from the head of a module that have a symbol which neither an extent nor a
/// declaration has, as after the last graph with it was erased.
void settle_relations(Module& module);

}  // namespace mir
