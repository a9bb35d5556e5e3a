// The walk of a generic op by several threads.
#pragma once

#include "eval/evaluate.hpp"
#include "kernels/fast/context.hpp"
#include "plan/generic_loops.hpp"

namespace mir {

/// Computes result `number` of a generic op with the bits of the reference kernel, with any number
/// of threads. Returns false, with any content of the result, if the reference kernel has to find
/// out what is wrong: an index outside, an element of two iterations or of none, a maximum over
/// nothing.
bool walk_generic(const Op& op, const GenericForm& form, std::uint32_t number,
                  std::span<const TensorRef> operands, const TensorRef& result,
                  const EvalEnvironment& environment, fast::Context& context);

}  // namespace mir
