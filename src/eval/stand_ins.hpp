// Ops on element types that no kernel takes, computed on tensors of types that kernels do take.
//
// note [stand-ins]
// The codes of a quantised value and the blocks of MXFP4 and GGUF stand for real numbers, which a
// Float64 tensor holds exactly; Int4 and UInt4 are numbers that Int8 and UInt8 hold. So an op on
// them is: stand-ins for operands and parameters, the op's own evaluator, then each result in its
// type, rounded once. Where one of them is needed, all floating operands become Float64 too, since
// kernels take one type. Ops that only move elements run on the codes themselves when all of their
// operands and results have the same quantisation.
#pragma once

#include "eval/call.hpp"

namespace mir::eval {

/// True if an operand, a result or a parameter of the op needs a stand-in.
bool needs_stand_ins(const EvalCall& call);

/// The stand-in of a tensor; the tensor itself where it needs none and is of no floating type.
/// `quantisation` is null where the elements are what they are.
Result<Tensor> stand_in(EvalCall& call, const Tensor& tensor,
                        const ref::Quantisation* quantisation);

/// Computes the results: `evaluate` runs on stand-ins. infer() was called.
Result<void> evaluate_on_stand_ins(EvalCall& call, Result<void> (*evaluate)(EvalCall& call));

}  // namespace mir::eval
