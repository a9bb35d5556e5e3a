// Opening files, wherever they lie.
#pragma once

#include <string>

#include "mir/weights.hpp"

namespace mir {

/// What `files` has under this name; from the file system a mapping.
Result<FileBytes> open_file(const FileOpener& files, const std::string& name);

}  // namespace mir
