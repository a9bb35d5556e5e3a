// Creates a temporary folder and removes it with the object.
#include "support/platform/scratch_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "mir/codes/files.hpp"

namespace mir {

Result<ScratchFolder> ScratchFolder::create(std::string_view prefix) {
  namespace fs = std::filesystem;
  std::error_code error;
  // Commands see it without links, and so does the output.
  const fs::path folder = fs::canonical(fs::temp_directory_path(error), error);
  std::string name = (folder / fmt::format("{}.XXXXXX", prefix)).string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Error{diag::kFileNotWritable, fmt::format("cannot make a folder '{}': {}", name,
                                                     std::generic_category().message(errno))};
  }
  return ScratchFolder(std::move(name));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // cannot be reported any more
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace mir
