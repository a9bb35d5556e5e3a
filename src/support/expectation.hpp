// Expected diagnostics, written as comments into the texts that cause them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

/// A part of a text, between lines that read `// -----`.
struct InputPart {
  std::string_view text;
  std::uint32_t first_line = 1;
};

/// The parts of a text in order, at least one; separating lines belong to none.
std::vector<InputPart> split_input(std::string_view text);

enum class ExpectedKind : std::uint8_t { kError, kWarning, kRemark, kNote };

/// A comment `// expect-error[MIRnnnn]@PLACE {{text}}`; code and place may be left out. PLACE is
/// `+N` or `-N` lines from the comment's own, `above` or `below` (the nearest line without such a
/// comment) or `unknown` (no place in a text); left out it is the comment's line.
struct ExpectedDiagnostic {
  ExpectedKind kind = ExpectedKind::kError;
  std::string_view code;   ///< `MIRnnnn`, empty: any
  std::uint32_t line = 0;  ///< 0: no place in a text
  std::string_view text;   ///< part of the message; ends at the last `}}` of the line
  Span at;                 ///< the comment
};

/// The expectations of a text in order. A comment that begins with `expect-` and is none is
/// reported as kExpectationMalformed.
std::vector<ExpectedDiagnostic> read_expectations(const SourceFile& file, Diagnostics& diagnostics);

/// Compares what was reported about `file` with what it expects: each expectation is met by one
/// diagnostic or note of its kind, line and code that contains its text, and nothing else is
/// reported. Empty when that is so; otherwise one error for each
/// difference.
Diagnostics check_expectations(const SourceFile& file, const SourceManager& sources,
                               const Diagnostics& found);

}  // namespace mir
