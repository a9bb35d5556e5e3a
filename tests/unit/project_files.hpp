// The project's own files, for tests that hold documents and code to each other.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace mir::test {

inline const std::filesystem::path kRoot = MIR_SOURCE_ROOT;

/// The whole of a file, which must be there.
inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace mir::test
