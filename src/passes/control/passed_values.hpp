// Values that conditions and loops pass on, but need not.
#pragma once

#include <cstddef>

#include "mir/rewriter.hpp"

namespace mir {

struct PassedValues {
  std::size_t forwarded = 0;  ///< results that are values around the op
  std::size_t removed = 0;    ///< results, and carried values, that nothing needs
};

/// Simplifies the values that conditions and loops pass. In a cf.IfOp, results that both regions
/// pass from outside become these values, and unused results are removed. In a cf.ForOp, a carried
/// value that its region passes on unchanged becomes the operand, and one that only computes its
/// own next value is removed, with the ops that do so. Ops whose regions determine symbols, and all
/// other ops, stay as they are.
PassedValues simplify_passed_values(Rewriter& rewriter, Op& op);

}  // namespace mir
