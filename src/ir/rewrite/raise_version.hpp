// The version of the language of a module after edits.
#pragma once

#include "mir/module.hpp"

namespace mir {

/// Gives a portable module the version that its ops need, and its types of declared dialects.
/// Leaves the version if it would change the meaning of calls; then the module does not verify.
void raise_version(Module& module);

}  // namespace mir
