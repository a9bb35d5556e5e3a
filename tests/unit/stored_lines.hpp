// Lines that a test finds and a file of the project stores.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "project_files.hpp"

namespace mir::test {

/// The lines of a file, relative to the root of the project. UPDATE_GOLDEN=1 writes `found` to it
/// first.
inline std::vector<std::string> stored_lines(const std::filesystem::path& file,
                                             const std::vector<std::string>& found) {
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    std::ofstream stored(kRoot / file);
    for (const std::string& line : found) stored << line << '\n';
  }
  std::vector<std::string> lines;
  std::istringstream text(read_whole(kRoot / file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace mir::test
