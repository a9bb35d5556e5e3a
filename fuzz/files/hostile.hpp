// Files that break their format in a known way, made one field at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mir::fuzz {

struct HostileFile {
  std::string what;  ///< the field and its content
  std::string bytes;
  bool legal = false;  ///< may be accepted: only what holds for any bytes is asked of it
};

/// A correct file of `format`, and some hundred malformed ones. Equal in every call.
std::string sound_file(std::string_view format);
std::vector<HostileFile> hostile_files(std::string_view format);

}  // namespace mir::fuzz
