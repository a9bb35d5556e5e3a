// Short texts for tests: registers may stand among the ops of a portable module.
#pragma once

#include <regex>
#include <string>

namespace mir::test {

/// The text with its first run of registers that stands in no graph `@init` put into one, on the
/// same lines. Portable modules have them nowhere else.
inline std::string with_init(const std::string& text) {
  static const std::regex registers(
      R"((tensor\.CPU\.register\s*\(\)\s*->\s*\([^()]*\)\s*(\[symbol:[^\]]*\])?\s*)+)");
  std::smatch found;
  if (text.find("@init") != text.npos || text.find("mir_version") == text.npos ||
      !std::regex_search(text, found, registers)) {
    return text;
  }
  const std::string inside = found.str();
  return found.prefix().str() + "graph.SubGraphOp @init <CPU> { () -> () { " +
         inside.substr(0, inside.find_last_not_of(" \n") + 1) + " } }\n" + found.suffix().str();
}

}  // namespace mir::test
