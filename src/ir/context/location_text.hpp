// `loc(...)` as text spells it: docs/language.md, chapter "Locations and aliases".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// Reads a whole `loc(...)`; none when it is no location of the language.
std::optional<Location> read_location(LocationTable& table, std::string_view said);

/// What stands between the parentheses of `loc(...)`; a kOpaque location gives its whole text.
/// `unknown` where nothing can be said: places of the source space when there are no sources.
std::string spell_location(const LocationTable& table, Location of, const SourceManager* sources);

}  // namespace mir
