// Passes from shared libraries.
#pragma once

#include <string>
#include <string_view>

#include "mir/pass.hpp"
#include "option.hpp"

namespace mir::tools {

/// The option that names plugins.
inline constexpr std::string_view kLoadPasses = "load-passes";

/// Loads a plugin (mir/pass_plugin.hpp) and adds its passes to the registry: all of them, or none
/// after an error, which names the file. The library stays loaded until the process ends.
Result<void> load_passes(const std::string& path, PassRegistry& registry);

/// The name of a plugin, whose passes are added to the registry when the option is read.
Argument<std::string> pass_plugin(PassRegistry& registry);

}  // namespace mir::tools
