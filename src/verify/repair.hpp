// Makes the edits that diagnostics offer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// The text of `file` with all edits of the diagnostics made, from the first on; of diagnostics
/// whose edits overlap the first one counts. Edits of other texts are left out.
std::string apply_fixes(const SourceFile& file, std::span<const Diagnostic> diagnostics);

struct Repair {
  std::string text;        ///< the text itself when nothing could be repaired
  std::size_t rounds = 0;  ///< how often edits were made
};

/// Makes the edits that the parser, resolution and verification offer, again and again, as long as
/// they help: a round counts only if the text then has fewer errors of syntax, or as many and fewer
/// of names and types, or as many of both and fewer of verification. The result parses, or is the
/// text as it was. Repairing the result again changes nothing.
Repair repair(std::string_view name, std::string text);

}  // namespace mir
