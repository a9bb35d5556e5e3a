// Names of files as text, with slashes.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// The part after the last slash.
constexpr std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// The part before the file name, without the slash unless it is the root; empty if there is none.
constexpr std::string_view folder_of(std::string_view path) {
  const auto name = path.rfind('/');
  if (name == path.npos) return {};
  const auto last = path.find_last_not_of('/', name);
  return path.substr(0, last == path.npos ? 1 : last + 1);
}

/// The path of a file in a folder. An absolute name replaces the folder.
inline std::string path_in(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

}  // namespace mir
