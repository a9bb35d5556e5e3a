// Modules without what the numbers of a run do not depend on.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Removes attributes that state the default of their row or repeat the symbol of their op or
/// value. Replaces each number by the shortest one of the same Float32, and words by quoted
/// strings.
void make_effective(Module& module);

}  // namespace mir
