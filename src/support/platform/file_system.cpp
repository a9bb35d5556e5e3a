// Looks at files and folders by std::filesystem.
#include "support/platform/file_system.hpp"

#include <algorithm>
#include <filesystem>

namespace mir {

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_regular_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_link(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_symlink(path, ignored);
}

std::error_code make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error;
}

std::error_code remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  return error;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::optional<FileStamp> file_stamp(const std::string& path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return std::nullopt;
  const auto changed = std::filesystem::last_write_time(path, error);
  if (error) return std::nullopt;
  return FileStamp{bytes, static_cast<std::int64_t>(changed.time_since_epoch().count())};
}

std::vector<std::string> files_below(const std::string& folder, const FileSearch& search) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    std::error_code unknown;
    const bool is_wanted = at->path().extension() == search.extension &&
                           at->is_regular_file(unknown) &&
                           at->file_size(unknown) <= search.most_bytes;
    if (is_wanted) files.push_back(at->path().string());
    if (files.size() == search.most_files) break;
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace mir
