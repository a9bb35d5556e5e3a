// Creates a folder with a name that is not in use, and removes it with the object.
#include "support/platform/scratch_folder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "support/platform/file_errors.hpp"

namespace mir {

Result<ScratchFolder> ScratchFolder::create(std::string_view prefix) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(fs::temp_directory_path(error), error);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  constexpr int kAttempts = 1000;
  std::string name;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = (folder / fmt::format("{}.{:x}", prefix, now + attempt)).string();
    if (fs::create_directory(name, error)) {
      fs::permissions(name, fs::perms::owner_all, error);
      return ScratchFolder(std::move(name));
    }
    if (error) break;
  }
  return Error{diag::kFileNotWritable,
               fmt::format("cannot make a folder '{}': {}", name, error.message())};
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // cannot be reported any more
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace mir
