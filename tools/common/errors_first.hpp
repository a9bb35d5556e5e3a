// Diagnostics of several files: errors first.
#pragma once

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Returns the errors of `all` alone, or all others alone, with their numbers of those not kept.
Diagnostics only_errors(const Diagnostics& all);
Diagnostics without_errors(const Diagnostics& all);

}  // namespace mir::tools
