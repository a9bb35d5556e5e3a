#include "checks.hpp"
#include "mir/ir/infer.hpp"

namespace mir::checks {

bool compatible(const Type* a, const Type* b) {
  if (a == b) return true;
  const auto* left = dyn_cast<TensorType>(a);
  const auto* right = dyn_cast<TensorType>(b);
  if (left == nullptr || right == nullptr || left->rank() != right->rank() ||
      left->dtype_name() != right->dtype_name() || left->device() != right->device() ||
      left->encoding() != right->encoding()) {
    return false;
  }
  for (std::size_t i = 0; i < left->rank(); ++i) {
    const Dim x = left->dims()[i], y = right->dims()[i];
    if (x != y && !x.is_unknown() && !y.is_unknown()) return false;
  }
  return true;
}

void types(const Op& op, Diagnostics& diagnostics) {
  const OpRow* row = op.row();
  if (row == nullptr || row->infer == nullptr) return;
  std::vector<const Type*> operands;
  for (const Use& use : op.operand_uses()) {
    if (use.value()->type() == nullptr) return;  // reported by resolve
    operands.push_back(use.value()->type());
  }
  InferContext inference(op.module().context(), op.info().mnemonic, operands, op.attributes(),
                         op.result_count(), op.span(), diagnostics);
  if (!row->infer(inference)) return;
  for (std::uint32_t i = 0; i < op.result_count() && i < inference.results().size(); ++i) {
    const Type* stated = op.result(i)->type();
    const Type* inferred = inference.results()[i];
    // A null type means that the declared one stands.
    if (stated == nullptr || inferred == nullptr || compatible(stated, inferred)) continue;
    report(diagnostics, op, DiagCode::kResultTypeMismatch,
           fmt::format("result {} of '{}' is stated as {}, its operands and attributes give {}", i,
                       op.name(), stated->spelling(), inferred->spelling()));
  }
}

}  // namespace mir::checks
