// Results of tests that files of the project store.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "project_files.hpp"

namespace mir::test {

/// True if the environment has UPDATE_GOLDEN=1: files are rewritten. Fails in CI.
inline bool is_updating() {
  const char* const update = std::getenv("UPDATE_GOLDEN");
  if (update == nullptr || *update != '1') return false;
  REQUIRE_MESSAGE(std::getenv("CI") == nullptr, "stored results are not rewritten where CI is set");
  return true;
}

inline std::vector<std::string> split_lines(const std::string& whole) {
  std::vector<std::string> lines;
  std::istringstream text(whole);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// The lines of a file, relative to the root of the project. UPDATE_GOLDEN=1 writes `found` to it
/// first.
inline std::vector<std::string> stored_lines(const std::filesystem::path& file,
                                             const std::vector<std::string>& found) {
  if (is_updating()) {
    std::ofstream stored(kRoot / file);
    for (const std::string& line : found) stored << line << '\n';
  }
  return split_lines(read_whole(kRoot / file));
}

/// A case of a file of cases: the line `== NAME`, lines of input, and a line `-> ...` for each line
/// of its result.
struct StoredCase {
  std::string name;
  std::string input;                ///< each line with its end
  std::vector<std::string> result;  ///< lines without the arrow
};

/// The cases of a file; comments before the first case are skipped.
inline std::vector<StoredCase> stored_cases(const std::filesystem::path& file) {
  std::vector<StoredCase> cases;
  for (const std::string& line : split_lines(read_whole(kRoot / file))) {
    if (line.starts_with("==")) {
      cases.push_back({line.substr(std::min<std::size_t>(3, line.size())), {}, {}});
    } else if (cases.empty()) {
      continue;
    } else if (line.starts_with("->")) {
      cases.back().result.push_back(line.substr(std::min<std::size_t>(3, line.size())));
    } else {
      cases.back().input += line + "\n";
    }
  }
  REQUIRE_FALSE(cases.empty());
  return cases;
}

/// Compares the text that `result_of` returns for each case of a file with the stored result.
/// UPDATE_GOLDEN=1 rewrites the results.
template <class Result>
void check_stored_cases(const std::filesystem::path& file, const Result& result_of) {
  const std::string whole = read_whole(kRoot / file);
  std::vector<std::string> found =
      split_lines(whole.starts_with("==") ? "" : whole.substr(0, whole.find("\n==")));
  for (const StoredCase& each : stored_cases(file)) {
    CAPTURE(each.name);
    CAPTURE(each.input);
    const std::vector<std::string> result = split_lines(result_of(each));
    if (!is_updating()) CHECK(result == each.result);
    found.push_back(each.name.empty() ? "==" : "== " + each.name);
    for (const std::string& line : split_lines(each.input)) found.push_back(line);
    for (const std::string& line : result) found.push_back(line.empty() ? "->" : "-> " + line);
  }
  const bool is_stored = found == stored_lines(file, found);
  CHECK_MESSAGE(is_stored, file.string(), " differs, UPDATE_GOLDEN=1 rewrites it");
}

}  // namespace mir::test
