// Modules for toolkits that read earlier versions of the language.
#pragma once

#include <cstdint>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Gives a portable module of a later version the version `version`. A dump, and a module of an
/// earlier version, stays as it is. Returns false after reporting each feature that needs a later
/// version (MIR0321); the module is unchanged then.
bool lower_version(Module& module, std::int64_t version, Diagnostics& diagnostics);

}  // namespace mir
