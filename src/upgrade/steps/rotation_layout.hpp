// Whether a rotation's operand has its heads or its positions first, which no dump prints.
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

/// Of a RoPE, or of a launch of one.
RotationLayouts layouts_of_rotation(const Op& op);

/// Whether positions come before heads; where both layouts fit, what reads the rotated x tells, or
/// another rotation of the block with the same table. None where nothing does.
std::optional<bool> positions_come_first(const Op& op);

}  // namespace mir
