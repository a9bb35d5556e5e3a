// Versions of the language, and the version that added each of its features.
#pragma once

#include <cstdint>

namespace mir {

/// The values of `mir_version` that this toolkit reads and writes.
inline constexpr std::int64_t kFirstVersion = 1;
inline constexpr std::int64_t kLatestVersion = 2;

// The version of an op is in its row (OpRow::version).

/// Dialects that a text declares, with their ops and types.
inline constexpr std::int64_t kDialectsVersion = 2;
/// Declared symbols, and calls that pass other extents for the symbols of their graph.
inline constexpr std::int64_t kSymbolsVersion = 2;
/// Several blocks in the body of a module.
inline constexpr std::int64_t kBlocksVersion = 2;
/// Minima and maxima in extents.
inline constexpr std::int64_t kExtremaVersion = 2;
/// Positions of the tokens of each sequence as an operand of caches, masks and attention.
inline constexpr std::int64_t kPositionsVersion = 2;
/// Ports with other names than their values.
inline constexpr std::int64_t kPortsVersion = 2;
/// Aliases of types, `!name = type`. Dumps have them, too.
inline constexpr std::int64_t kTypeAliasVersion = 2;
/// `tensor.CPU.register () -> (%0:T[@w])` means the same as followed by `[symbol:w]`.
inline constexpr std::int64_t kImpliedSymbolVersion = 2;
/// Names of ops without dialect and device, names relative to their graph, `*` for implied
/// attributes, `[#recipe]` and `#recipe(3)`. Dumps have them, too.
inline constexpr std::int64_t kImpliedTextVersion = 2;

}  // namespace mir
