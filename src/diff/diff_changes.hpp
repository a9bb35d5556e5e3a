// Changes of a diff as they are shown: one for each pair of ops.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diff/module_diff.hpp"

namespace mir {

/// Changes of one pair of ops, or one op that only one text has.
struct Change {
  std::span<const DiffEntry> entries;
  std::vector<const DiffEntry*> alike;  ///< the first entries of later changes with the same text

  const DiffEntry& first() const { return entries.front(); }
};

/// The changes in the order of the entries, which must outlive them. Those that differ only in the
/// numbers of names are joined, unless `each` is true.
std::vector<Change> changes_of(const ModuleDiff& diff, bool each);

/// The graph as a path: `@main / @foo_net`.
std::string graph_of(const DiffEntry& entry);
/// The position of an entry in the texts: ` (line 3:4, 5:6)`.
std::string lines_text(const DiffEntry& entry, const IRContext& context);
/// The number of changes that are like this one: ` and 27 alike, the last ...`; empty for none.
std::string alike_text(const Change& change, const IRContext& context);
/// Lines with `-`, `+`, `~` or a blank before them: the op, and the fields that changed.
std::string change_text(const Change& change, const IRContext& context, bool coloured);

inline constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[31m", kGreen = "\x1b[32m",
                                  kCyan = "\x1b[36m", kPlain = "\x1b[0m";

/// Returns a line in a colour. Control characters of user text are made visible.
std::string styled(std::string_view colour, std::string_view given, bool coloured);

inline std::string_view or_none(std::string_view text) {
  return text.empty() ? "(none)" : text;
}

}  // namespace mir
