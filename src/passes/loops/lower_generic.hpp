// Lowers generic ops to kernels of nests.
#pragma once

#include <string>

#include "mir/rewriter.hpp"

namespace mir {

/// Returns why a verified generic op has no kernel; empty if it has one.
std::string why_no_kernel(const Op& generic);

/// Creates a loop.KernelOp with the bits of a generic op before it, and returns the kernel. There
/// must be no reason against it. Loops run in the written order, except that the loops of a result
/// run outside of its sums if its accumulators would be too many.
Op& lower_generic(Rewriter& rewriter, Op& generic);

}  // namespace mir
