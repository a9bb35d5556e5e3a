// Lines of a test text that define its commands and the expected output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pattern.hpp"

namespace mir::tools {

/// Words that begin check lines: `CHECK`, unless others are asked for.
using CheckPrefixes = std::vector<std::string>;
bool is_check_prefix(std::string_view word);

/// A `RUN` line with the status that it shall end with.
struct TestCommand {
  std::string_view text;
  int exit_status = 0;
  Span at;
};

enum class CheckKind : std::uint8_t { kPlain, kNext, kSame, kEmpty, kNot, kDag, kLabel, kCount };

/// A check line. The texts it refers to are those of its file.
struct Check {
  CheckKind kind = CheckKind::kPlain;
  std::uint32_t count = 1;  ///< number of successive matches
  CheckPattern pattern;
  Span at;                   ///< the text to look for; the keyword if the line has no text
  std::string_view keyword;  ///< as it is written: `CHECK-NEXT`
  std::string_view prefix;   ///< the part of it that selects the check: `CHECK`
};

/// The `RUN` lines of `file` with the statuses of its `EXIT` lines. A file without `RUN` lines has
/// the `inherited` ones, and its `EXIT` line is of the last of them. Directives are lines that
/// begin with `// WORD:`, blanks apart; what cannot be read is reported as kCheckMalformed.
std::vector<TestCommand> read_commands(const SourceFile& file,
                                       std::span<const TestCommand> inherited,
                                       Diagnostics& diagnostics);

/// Returns the check lines of `file`. Checks that no output can satisfy are reported as well.
std::vector<Check> read_checks(const SourceFile& file, const CheckPrefixes& prefixes,
                               Diagnostics& diagnostics);

/// The prefixes that begin none of the checks' keywords.
CheckPrefixes unused_prefixes(const CheckPrefixes& prefixes, std::span<const Check> checks);

/// True if a line is a directive: a comment that begins with a word of checks, or any in capitals
/// (another run's), and a colon.
bool is_directive(std::string_view line, const CheckPrefixes& prefixes);

}  // namespace mir::tools
