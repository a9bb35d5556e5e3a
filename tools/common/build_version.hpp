// What `--version` shows.
#pragma once

#include <string>
#include <string_view>

namespace mir::tools {

/// Returns "mllm-fmt 0.1.0 (commit 119945d1ab3c, release build)". Without a commit, because the
/// sources were an archive and no git repository, the text says so.
std::string version_text(std::string_view tool);

}  // namespace mir::tools
