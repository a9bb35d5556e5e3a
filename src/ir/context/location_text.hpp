// `loc(...)` as text spells it: docs/language.md, chapter "Locations and aliases".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// Reads a whole `loc(...)`; none when it is no location of the language.
std::optional<Location> read_location(LocationTable& table, std::string_view said);

/// Like LocationTable::is_stated(), for a part of another location. A stated one counts for what it
/// says, so that `loc(unknown)` does not.
bool is_stated_part(const LocationTable& table, Location part);

/// Returns the text between the parentheses of `loc(...)`; for a kOpaque location, its whole text.
/// Returns `unknown` if nothing is known: places of the source space when there are no sources.
std::string spell_location(const LocationTable& table, Location of, const SourceManager* sources);

}  // namespace mir
