// Computes the elements of a generic op where another generic op reads them.
#pragma once

#include "mir/rewriter.hpp"

namespace mir {

/// The reason why the op, as the producer of an operand of `consumer`, must stay apart; empty if
/// fuse_producer() may be called. Both are generic ops.
std::string_view why_apart(const Op& producer, const Op& consumer, std::size_t operand);

/// Makes the consumer compute the operand from the operands of its producer, which is left. Numbers
/// are rounded as they were when they were stored.
void fuse_producer(Rewriter& rewriter, Op& consumer, std::size_t operand);

}  // namespace mir
