// Opening files, wherever they lie.
#pragma once

#include <string>

#include "mir/weights.hpp"

namespace mir {

/// Opens the file that `files` has under this name. From the file system it is mapped.
Result<FileBytes> open_file(const FileOpener& files, const std::string& name);

}  // namespace mir
