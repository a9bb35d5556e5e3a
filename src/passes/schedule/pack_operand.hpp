// Copies an operand of a generic op into the order in which its loops read it.
#pragma once

#include "mir/rewriter.hpp"

namespace mir {

/// Inserts before the op a generic op that copies elements of an operand into a tensor with a
/// dimension for each loop in the operand's map, the outermost loop first, and makes the op read
/// it. Returns the reason if that cannot be done, and then changes nothing.
std::string_view pack_operand(Rewriter& rewriter, Op& op, std::size_t operand);

}  // namespace mir
