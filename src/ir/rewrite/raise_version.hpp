// The version of the language of a module after edits.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Gives a portable module of version 1 the version that its ops and types of declared dialects
/// need. Leaves the version if it would change the meaning of calls; then the module does not
/// verify.
void raise_version_for_dialects(Module& module);

}  // namespace mir
