// The modules that docs/ops/*.md show.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace mir::test {

struct PageExample {
  std::string page;        ///< "movement"
  std::size_t number = 0;  ///< in the page
  std::string text;
};

/// In no particular order of pages, but for declarations of dialects, which run nothing.
inline std::vector<PageExample> page_examples() {
  std::vector<PageExample> examples;
  const auto folder = std::filesystem::path(MIR_SOURCE_ROOT) / "docs/ops";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().stem() == "dialect") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string all = text.str(), open = "```mir\n";
    std::size_t number = 0;
    for (auto at = all.find(open); at != all.npos; at = all.find(open, at)) {
      at += open.size();
      examples.push_back(
          {entry.path().stem().string(), number++, all.substr(at, all.find("```", at) - at)});
    }
  }
  return examples;
}

}  // namespace mir::test
