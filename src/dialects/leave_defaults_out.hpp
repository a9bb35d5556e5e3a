// Attributes that state a default.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Removes attributes whose value is the default of their row. Programs state such attributes;
/// graphs need not.
void leave_defaults_out(Module& module);

}  // namespace mir
