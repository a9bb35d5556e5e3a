// Rules of matrix products, linear layers and embedding.
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

/// The batch rule: equal, 1, or a divisor.
bool serves(InferContext& op, Dim a, Dim b) {
  if ((b.is_constant() && b.constant() == 1) || op.agree(a, b)) return true;
  return exact_quotient(op, a, b).has_value();
}

DType result_of(std::string_view impl_type, DType otherwise) {
  if (impl_type.starts_with("KaiLinear_f32_") || impl_type == "GGUF") return DType::kFloat32;
  if (impl_type.starts_with("KaiLinear_f16_") || impl_type.starts_with("KaiLinear_fp16_")) {
    return DType::kFloat16;
  }
  if (impl_type.starts_with("QNN_LPBQ_")) return DType::kUInt16PerTensor;
  return otherwise;
}

}  // namespace

bool matmul(InferContext& op) {
  op.constraint("matmul_c1");
  const TensorType* a = ranked(op, 0, 2, kAnyRank);
  const TensorType* b = ranked(op, 1, 2, kAnyRank);
  op.constraint("matmul_c2");
  if (a == nullptr || b == nullptr || !same_elements(op, 0, 1) ||
      !takes(op, 0, *a, Elements::kNumeric)) {
    return false;
  }
  const auto transpose_a = boolean_or(op, key::kTransposeA, false);
  const auto transpose_b = boolean_or(op, key::kTransposeB, false);
  if (!transpose_a || !transpose_b) return false;
  Shape left = shape_of(*a), right = shape_of(*b);
  if (right.size() != 2 && right.size() != left.size()) {
    return mismatch(op, diag::kRankMismatch, fmt::format("operand 1 of rank 2 or {}", left.size()),
                    show(op, right));
  }
  const std::size_t row = left.size() - 2, last = right.size() - 2;
  const Dim inner_a = left[row + (*transpose_a ? 0 : 1)];
  const Dim inner_b = right[last + (*transpose_b ? 1 : 0)];
  op.constraint("matmul_c3");
  if (!op.agree(inner_a, inner_b)) {
    return mismatch(op, diag::kShapeMismatch,
                    fmt::format("equal inner extents (transpose_a {}, transpose_b {})",
                                *transpose_a, *transpose_b),
                    fmt::format("{} and {}", show(op, left), show(op, right)));
  }
  for (std::size_t i = 0; i < last; ++i) {
    op.constraint("matmul_c4");
    if (!serves(op, left[i], right[i])) {
      return mismatch(op, diag::kShapeMismatch,
                      "batch extents of operand 1 that equal or divide those of operand 0",
                      fmt::format("{} and {}", show(op, left), show(op, right)));
    }
  }
  const Dim m = left[row + (*transpose_a ? 1 : 0)], n = right[last + (*transpose_b ? 0 : 1)];
  left[row] = m;
  left[row + 1] = n;
  return give(op, std::move(left), *a);
}

bool embedding(InferContext& op) {
  op.constraint("embedding_c1");
  const TensorType* ids = ranked(op, 0, 1, kAnyRank);
  if (ids == nullptr || !takes(op, 0, *ids, Elements::kIndex)) return false;
  const auto hidden = extent_or_unknown(op, key::kHiddenSize);
  op.constraint("embedding_c2");
  const auto vocabulary = integer_at_least(op, key::kVocabSize, 0, 0);
  const auto dtype = string_or(op, key::kDtype, "Float32");
  if (!hidden || !vocabulary || !dtype) return false;
  op.run_needs_indices(
      0, op.attribute(key::kVocabSize) == nullptr ? Dim::unknown() : Dim(*vocabulary), false);
  Shape shape = shape_of(*ids);
  shape.push_back(*hidden);
  IRContext& context = op.context();
  op.result(context.tensor(shape, context.intern(*dtype), ids->device()));
  return true;
}

bool linear(InferContext& op) {
  op.constraint("linear_c1");
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr || !takes(op, 0, *x, Elements::kFloating)) return false;
  Shape shape = shape_of(*x);
  const std::size_t last = shape.size() - 1;
  const auto out = extent_or_unknown(op, key::kOutChannels);
  const auto impl_type = string_or(op, key::kImplType, "Default");
  if (!out || !impl_type) return false;
  if (op.attribute(key::kInChannels) != nullptr) {
    const auto in = op.integer(key::kInChannels);
    if (!in) return false;
    op.constraint("linear_c2");
    if (!op.agree(shape[last], Dim(*in))) {
      return mismatch(op, diag::kShapeMismatch, fmt::format("in_channels {}", *in),
                      fmt::format("last extent {} of operand 0", show(op, shape[last])));
    }
  }
  if (op.operand_count() > 1) {
    const TensorType* destination = op.operand(op.operand_count() - 1);
    if (destination != nullptr) op.result(destination);
    return destination != nullptr;
  }
  shape[last] = *out;
  const auto dtype = x->dtype();
  if (dtype) return give(op, shape, result_of(*impl_type, *dtype), *x);
  return give(op, std::move(shape), *x);
}

}  // namespace mir::rules
