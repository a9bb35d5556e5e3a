// Values that conditions and loops pass on, but need not.
#pragma once

#include <cstddef>

#include "mir/rewriter.hpp"

namespace mir {

struct PassedValues {
  std::size_t forwarded = 0;  ///< results that are values around the op
  std::size_t removed = 0;    ///< results, and carried values, that nothing needs
};

/// Of a cf.IfOp: results that both regions pass from outside become these values, and results that
/// nothing uses are removed. Of a cf.ForOp: a carried value that its region passes on as it is
/// becomes the operand, and one that only computes its own next value is removed, with the ops that
/// do so. Ops whose regions find out symbols stay as they are, and so do all other ops.
PassedValues simplify_passed_values(Rewriter& rewriter, Op& op);

}  // namespace mir
