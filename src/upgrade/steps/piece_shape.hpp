// Shapes of values as their users determine them, where upstream printed that of a larger tensor.
#pragma once

#include <optional>
#include <vector>

#include "mir/module.hpp"

namespace mir {

using PieceShape = std::vector<Dim>;

PieceShape shape_of(const Value& value);

/// True if a piece of this shape can be cut from `whole`.
bool fits(const PieceShape& piece, const PieceShape& whole);

/// A shape that users tell.
struct NeededShape {
  PieceShape shape;
  bool certain = true;  ///< no other shape would do
};

/// The shape that one user needs of a piece of `whole`; none where it does not tell.
std::optional<NeededShape> needed_by(const Use& use, const PieceShape& whole);

/// The shape that an elementwise user needs: that of its result, unless the other operand gives
/// some of it, which nothing tells.
std::optional<NeededShape> needed_by_elements(const Use& use, const PieceShape& whole);

/// True if the user has its printed result types when the operand has this type; no value if lost
/// options leave that open.
std::optional<bool> takes_type(const Use& use, const TensorType& type);

/// A piece with that many elements that differs from `whole` in one dimension, the first that does.
std::optional<NeededShape> piece_of_elements(const PieceShape& whole, std::int64_t elements);

/// Product of constant extents; none on symbolic ones and on overflow.
std::optional<std::int64_t> element_count(const PieceShape& shape);

}  // namespace mir
