// Real dumps, where there are any.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "../seeds.hpp"

namespace mir::test {

/// Every `.mir` file in the folder MIR_CORPUS names, or else in `../shared/corpus` of the sources;
/// each seventh of them under sanitizers. Says so once when there is none.
inline const std::vector<std::string>& corpus() {
  static const std::vector<std::string> files = [] {
    const char* folder = std::getenv("MIR_CORPUS");
    const std::filesystem::path root =
        folder != nullptr ? folder : MIR_SOURCE_ROOT "/../shared/corpus";
    std::vector<std::string> found;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(root, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() == ".mir") found.push_back(at->path().string());
    }
    std::sort(found.begin(), found.end());
    for (std::size_t i = 0; i * kCaseStride < found.size(); ++i)
      found[i].swap(found[i * kCaseStride]);
    found.resize((found.size() + kCaseStride - 1) / kCaseStride);
    if (found.empty()) {
      std::fputs("no corpus: tests over real dumps are skipped; MIR_CORPUS names their folder\n",
                 stderr);
    }
    return found;
  }();
  return files;
}

}  // namespace mir::test
