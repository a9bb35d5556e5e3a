// Op that a graph's op or a program's launch computes.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// The op itself, or the kernel that a prog.kernel_launch names; kNone for one the build does not
/// know.
OpId computed_op(const Op& op);

}  // namespace mir
