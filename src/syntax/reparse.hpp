// The tree of a text after an edit, from the tree before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mir/parse.hpp"

namespace mir {

/// Bytes [begin, end) of the old text became `inserted` bytes of the new one.
struct TextEdit {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t inserted = 0;
};

/// Units of a tree, from `first` on, that others of the next tree replace.
struct UnitChange {
  std::size_t first = 0;
  std::size_t removed = 0;
  std::size_t added = 0;
};

struct Reparsed {
  SyntaxTree tree;
  std::vector<Diagnostic> errors;  ///< sorted
  UnitChange change;               ///< all other units are those of the old tree
};

/// The tree that parse_damaged() makes of `file`, and its errors, if parsing only the units that
/// the edit touches is enough: no head or end of a module changes, and no error concerns text
/// outside its unit. The units of the old tree that still hold are moved into the new one. The old
/// text and the new one begin at the same position of their source spaces.
std::optional<Reparsed> reparse(std::vector<Unit> old, std::span<const Diagnostic> old_errors,
                                const TextEdit& edit, const SourceFile& file);

}  // namespace mir
