// Passes from shared libraries.
#pragma once

#include <string>
#include <string_view>

#include "mir/pass.hpp"

namespace mir::tools {

/// The option that names plugins.
inline constexpr std::string_view kLoadPasses = "load-passes";

/// Loads a plugin (mir/pass_plugin.hpp) and adds its passes to the registry: all of them, or none
/// after an error, which names the file. The library stays loaded until the process ends.
Result<void> load_passes(const std::string& path, PassRegistry& registry);

}  // namespace mir::tools
