// Text to syntax tree.
#pragma once

#include <functional>
#include <optional>

#include "mir/diagnostic.hpp"
#include "mir/tree.hpp"

namespace mir {

/// Deepest nesting of bodies, lists and brackets accepted.
inline constexpr std::uint32_t kMaxNesting = 256;

/// The whole tree; none when the text has an error (all errors up to the limit of `diagnostics`
/// are reported: the parser goes on at the next op).
std::optional<SyntaxTree> parse(const SourceFile& file, Diagnostics& diagnostics);

/// As parse, but hands each unit over as soon as it is complete and keeps none. After an error no
/// further unit is delivered. `deliver` returns false to stop early. Returns true when the whole
/// text was parsed without an error.
bool parse_units(const SourceFile& file, Diagnostics& diagnostics,
                 const std::function<bool(Unit&&)>& deliver);

/// Tokens of a whole text in order, for listings; lexical errors are reported and skipped.
std::vector<Token> scan(const SourceFile& file, Diagnostics& diagnostics);

}  // namespace mir
