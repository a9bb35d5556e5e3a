// What a user grants where dumps lost their meaning, as the options of a tool say it.
#pragma once

#include "mir/passes/upgrade.hpp"
#include "options.hpp"

namespace mir::tools {

/// Options --sidecar, --assume and --symbolic-dim, which a tool that calls this has all.
Result<UpgradeOptions> read_grants(const Arguments& arguments);

}  // namespace mir::tools
