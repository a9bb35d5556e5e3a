// A kernel of nests as loops of C.
#pragma once

#include "emit_c/c_generic.hpp"

namespace mir::c {

/// Writes statements that run a loop.KernelOp. An error says what C out does not have.
Result<void> emit_kernel(const Op& op, const CGenericPlace& place, const CNames& names,
                         CLines& out);

}  // namespace mir::c
