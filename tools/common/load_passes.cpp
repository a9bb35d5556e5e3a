// Loads pass plug-ins from shared libraries and registers their passes.
#include "load_passes.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "mir/codes/files.hpp"
#include "mir/codes/passes.hpp"
#include "mir/pass_plugin.hpp"
#include "regular_file.hpp"
#include "support/platform/plugin.hpp"

namespace mir::tools {

namespace {

constexpr const char* kEntryPoint = "mir_pass_plugin";

Error cannot_load(const std::string& path, std::string_view why) {
  return {diag::kFileNotReadable, fmt::format("cannot load passes from '{}': {}", path, why)};
}

Result<const PassPlugin*> open_plugin(const std::string& path) {
  // An opened FIFO may wait for ever.
  if (auto regular = expect_regular_file(path); !regular) return std::move(regular).error();
  const auto loaded = load_function(path, kEntryPoint);
  if (!loaded) return cannot_load(path, loaded.error().message);
  if (loaded->address == nullptr) {
    return cannot_load(path, fmt::format("the library does not define '{}'", kEntryPoint));
  }
  const auto entry = reinterpret_cast<decltype(&mir_pass_plugin)>(loaded->address);
  const PassPlugin* plugin = entry();
  if (plugin == nullptr) return cannot_load(path, fmt::format("'{}' returned null", kEntryPoint));
  return plugin;
}

/// Reads no member of the description after the first that does not fit.
Result<void> check(const std::string& path, const PassPlugin& plugin) {
  if (plugin.interface_version != kPassPluginInterface) {
    return cannot_load(path, fmt::format("its plugin interface has version {}, expected {}",
                                         plugin.interface_version, kPassPluginInterface));
  }
  const std::string_view built = plugin.project_version == nullptr ? "" : plugin.project_version;
  if (built != kProjectVersion) {
    return cannot_load(
        path, fmt::format("it was compiled with the headers of mllm-ir {}, expected mllm-ir {}",
                          built, kProjectVersion));
  }
  if (plugin.code != pass_plugin_uses_this_code) {
    return cannot_load(path,
                       "it has its own copy of the project's code; build it without the "
                       "project's libraries, -Bsymbolic, -fvisibility=hidden and -D_GLIBCXX_DEBUG");
  }
  if (plugin.name == nullptr || plugin.passes == nullptr) {
    return cannot_load(path, "the plugin has no name or no function 'passes'");
  }
  return {};
}

Result<std::vector<Pass>> passes_of(const PassPlugin& plugin) {
  try {
    return plugin.passes();
  } catch (const std::exception& error) {
    return Error{diag::kPipeline, fmt::format("exception: {}", error.what())};
  }
}

}  // namespace

Result<void> load_passes(const std::string& path, PassRegistry& registry) {
  const auto plugin = open_plugin(path);
  if (!plugin) return std::move(plugin).error();
  if (auto fits = check(path, **plugin); !fits) return fits;
  auto passes = passes_of(**plugin);
  const auto added =
      passes ? registry.try_add_all(*std::move(passes)) : Result<void>(std::move(passes).error());
  if (added) return {};
  return Error{added.error().code, fmt::format("cannot load plugin '{}' from '{}': {}",
                                               (*plugin)->name, path, added.error().message)};
}

Argument<std::string> pass_plugin(PassRegistry& registry) {
  auto argument = any_file(itself(ReferenceKind::kReadFile), "so");
  argument.read = [&registry](std::string_view, std::string_view text) -> Result<std::string> {
    std::string path(text);
    if (auto loaded = load_passes(path, registry); !loaded) return std::move(loaded).error();
    return path;
  };
  return argument;
}

}  // namespace mir::tools
