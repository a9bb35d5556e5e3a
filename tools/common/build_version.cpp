// Version, commit and kind of the build, as text.
#include "build_version.hpp"

#include <fmt/format.h>

#include "commit.hpp"
#include "mir/version.hpp"

namespace mir::tools {

std::string version_text(std::string_view tool) {
  const std::string_view commit = kCommit;
  const std::string sources =
      commit.empty() ? "sources without git" : fmt::format("commit {}", commit);
  return fmt::format("{} {} ({}, {} build)\n", tool, kProjectVersion, sources, MIR_BUILD_KIND);
}

}  // namespace mir::tools
