// Files and folders by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mir {

/// True if the file or folder exists and may be looked at. Links are followed.
bool file_exists(const std::string& path);
/// True if this is a regular file or a link to one, so that reading it does not wait for another
/// process.
bool is_regular_file(const std::string& path);
/// True if a symbolic link has this name.
bool is_link(const std::string& path);

/// Makes a folder and those that it is in, unless they exist.
std::error_code make_folders(const std::string& path);
/// Removes a file or an empty folder, unless there is none.
std::error_code remove_file(const std::string& path);

/// The path from the root without `.` and `..`, which need not exist; the path itself if the
/// present folder is unknown.
std::string absolute_path(const std::string& path);

/// Size and time of the last change of a file.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  ///< ticks of the clock of the file system
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
/// Returns no value if the file may not be looked at.
std::optional<FileStamp> file_stamp(const std::string& path);

/// Files that files_below() returns.
struct FileSearch {
  std::string_view extension;  ///< with its dot
  std::uint64_t most_bytes = 0;
  std::size_t most_files = 0;
};

/// Returns the regular files in a folder and the folders in it, sorted. Names that begin with a
/// dot, larger files and folders that may not be read are skipped.
std::vector<std::string> files_below(const std::string& folder, const FileSearch& search);

}  // namespace mir
