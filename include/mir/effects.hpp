// What running an op does besides giving its results.
#pragma once

#include <optional>

#include "mir/op.hpp"

namespace mir {

/// Of the op and of what is inside it; in a portable module nothing writes an operand. None: nobody
/// knows, as of an op without a row.
std::optional<Effect> effects_of(const Op& op);

/// Whether the results depend on operands, attributes and weights only and nothing else happens: an
/// op that may be left out when nobody reads it, and run once where it stands twice. A call is as
/// pure as its graph, which is not looked at: false.
bool is_pure(const Op& op);

/// Whether operands 0 and 1 may change places.
bool is_commutative(const Op& op);

/// Whether an op of a dump writes into the storage of operand `index`.
bool writes_operand(const Op& op, std::uint32_t index);

/// Whether the op may run where it would not have run: it is pure, and no operands that fit by
/// their types make a run stop at it. False where extents are known only when it runs.
bool is_speculatable(const Op& op);

}  // namespace mir
