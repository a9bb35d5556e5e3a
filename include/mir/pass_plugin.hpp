// Plugins: shared libraries whose passes mllm-opt loads at run time.
//
// A plugin defines one function, mir_pass_plugin(), which returns a description of the plugin.
// docs/howto/write-a-pass.md writes and builds one.
#pragma once

#include <cstdint>
#include <vector>

#include "mir/pass.hpp"
#include "mir/version.hpp"

namespace mir {

/// Version of PassPlugin and of the function that returns it.
inline constexpr std::uint32_t kPassPluginInterface = 1;

/// Does nothing. Its address tells whether a plugin uses the code of the program that loads it. A
/// plugin with its own copy of that code, or with other containers in its standard library (a debug
/// mode), has another address, and is refused.
inline void pass_plugin_uses_this_code(const std::vector<Pass>&) {}

/// Describes a plugin. A plugin sets `name` and `passes` only.
///
/// The loader reads the members in their order and stops at the first mismatch, so
/// `interface_version` stays the first member in all versions. The headers have a different binary
/// interface in each version of the project: a plugin works only with the version of the headers
/// that it was compiled with.
struct PassPlugin {
  std::uint32_t interface_version = kPassPluginInterface;
  const char* project_version = kProjectVersion;
  void (*code)(const std::vector<Pass>&) = pass_plugin_uses_this_code;
  /// Names the plugin in messages.
  const char* name = nullptr;
  /// Returns the passes of the plugin. Called each time the plugin is loaded into a registry.
  /// Either all passes are registered or, if one is refused (PassRegistry::try_add), none.
  std::vector<Pass> (*passes)() = nullptr;
};

}  // namespace mir

/// The entry point of a plugin, which the plugin defines. The description must exist until the
/// process ends, and so does the library, which is never unloaded. Must not throw.
extern "C" __attribute__((visibility("default"))) const mir::PassPlugin* mir_pass_plugin();
