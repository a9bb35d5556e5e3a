// Reads the options and environment variables of mllm-check.
#include "settings.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "mir/codes/usage.hpp"

namespace mir::tools {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

/// The folder that this program lies in.
std::string own_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

}  // namespace

Result<CheckPrefixes> parse_check_prefixes(std::string_view text) {
  CheckPrefixes prefixes;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    prefixes.emplace_back(text.substr(0, comma));
    if (!is_check_prefix(prefixes.back())) {
      return Error{diag::kUsage,
                   fmt::format("the word of a check has letters, digits, '-' and '_', found '{}'",
                               prefixes.back())};
    }
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return prefixes;
}

Result<CheckSettings> settings_of(const CheckOptions& options) {
  if (auto alone = refuse_together({&options.input, &options.update}); !alone)
    return std::move(alone).error();
  CheckSettings settings;
  CheckPrefixes prefixes;
  for (const CheckPrefixes& each : *options.check_prefix)
    prefixes.insert(prefixes.end(), each.begin(), each.end());
  if (!prefixes.empty()) settings.prefixes = std::move(prefixes);
  settings.time_limit = std::chrono::seconds(*options.timeout);
  std::error_code error;
  const std::filesystem::path tools = options.tools.is_given() ? *options.tools : own_folder();
  settings.tools = std::filesystem::absolute(tools, error).string();
  settings.update = options.update || is_set("UPDATE_GOLDEN");
  if (settings.update && is_set("CI")) {
    return Error{diag::kUsage, "expectations are not rewritten where CI is set"};
  }
  return settings;
}

}  // namespace mir::tools
