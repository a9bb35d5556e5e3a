// Test texts: where they are found, and the cases that each of them holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directives.hpp"

namespace mir::tools {

inline constexpr std::uint64_t kMaxCaseSize = std::uint64_t{64} << 20;

/// The files to run for `path`: itself, or for a folder those below it that end in `.mir` or
/// `.test`, in order. Folders called `data`, `examples` and `compatibility` hold material and are
/// left out. Fails when `path` cannot be read.
Result<std::vector<std::string>> find_case_files(const std::string& path);

/// The other case whose stored output would be in the same files, as `a.test` beside `a.mir`. No
/// value if there is none.
std::optional<std::string> case_of_same_output(const std::string& path);

/// One test: its text, its commands and the expected output.
struct TestCase {
  std::string name;        ///< the path; with the number of its first line where it is a part
  const SourceFile* text;  ///< or the part of a file
  std::vector<TestCommand> commands;
  std::vector<Check> checks;  ///< of the output; empty where a command does the checking
  Diagnostics problems{0};    ///< errors of the directives
};

/// Returns the cases of a file. Lines `// -----` split it, unless one of its commands does that
/// with `--split-input-file`. A part without commands runs those of the first part. A first part of
/// comments without checks is not a case if it has no commands or other parts run them.
std::vector<TestCase> read_cases(const SourceFile& file, const CheckPrefixes& prefixes,
                                 SourceManager& sources);

}  // namespace mir::tools
