// Order of heads and positions in the operand of a rotation, which no dump prints.
#pragma once

#include <optional>

#include "mir/op.hpp"

namespace mir {

/// Which of [B, H, S, D] and [B, S, H, D] fit the table, which has a row for each position: both
/// where heads and positions are as many.
struct RotationLayouts {
  bool known = false;  ///< x has four dimensions, the table two or more
  bool heads_first = false;
  bool positions_first = false;
};

/// Returns the possible layouts of a RoPE, or of a launch of one.
RotationLayouts layouts_of_rotation(const Op& op);

/// True if positions come before heads. If both layouts fit, the readers of the rotated x decide,
/// or another rotation of the block with the same table. No value if nothing decides.
std::optional<bool> positions_come_first(const Op& op);

}  // namespace mir
