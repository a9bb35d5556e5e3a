// Result-type rules of normalisations, softmax and the causal mask.
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

/// The floating operand 0 of at least `rank`, which the result is like.
const TensorType* normalised(InferContext& op, std::size_t rank) {
  const TensorType* x = ranked(op, 0, rank, kAnyRank);
  return x != nullptr && takes(op, 0, *x, Elements::kFloating) ? x : nullptr;
}

bool expect_not_negative(InferContext& op, AttrKey key) {
  if (op.attribute(key) == nullptr) return true;
  const auto value = op.number(key);
  if (!value) return false;
  if (*value >= 0) return true;
  return op.fail_at(key, diag::kAttributeOutOfRange,
                    fmt::format("'{}' of '{}' is {}, expected a number that is not negative",
                                key.text, op.op_name(), op.attribute(key)->spelling()));
}

/// True if operand 1 is a weight for rows of `x` and the op owns none.
bool weighs_rows(InferContext& op, const TensorType& x) {
  op.constraint("rms_norm_c3");
  const TensorType* weight = ranked(op, 1, 1);
  const auto owns = boolean_or(op, key::kElementwiseAffine, true);
  if (weight == nullptr || !owns || !takes(op, 1, *weight, Elements::kFloating)) return false;
  if (*owns) {
    // A dump that prints no attributes lacks this one too.
    const bool is_stated = op.attribute(key::kElementwiseAffine) != nullptr;
    return op.fail_at(
        key::kElementwiseAffine, is_stated ? diag::kAttributeOutOfRange : diag::kAttributeMissing,
        fmt::format("'{}' has its weight as operand 1, expected elementwise_affine:false",
                    op.op_name()));
  }
  const Dim row = shape_of(x).back(), weights = shape_of(*weight).front();
  if (op.agree(row, weights)) return true;
  const Dim expected[] = {row};
  return mismatch(op, diag::kShapeMismatch,
                  fmt::format("a weight of extents {} as operand 1", show(op, expected)),
                  show(op, shape_of(*weight)));
}

}  // namespace

bool rms_norm(InferContext& op) {
  op.constraint("rms_norm_c1");
  const TensorType* x = normalised(op, 1);
  op.constraint("rms_norm_c2");
  if (x == nullptr || !expect_not_negative(op, key::kEpsilon)) return false;
  if (op.operand_count() == 2 && !weighs_rows(op, *x)) return false;
  op.result(x);
  return true;
}

bool layer_norm(InferContext& op) {
  op.constraint("layer_norm_c1");
  const TensorType* x = normalised(op, 1);
  op.constraint("layer_norm_c2");
  if (x == nullptr || !expect_not_negative(op, key::kEps)) return false;
  if (op.attribute(key::kNormalizedShape) != nullptr) {
    const auto row = op.integers(key::kNormalizedShape);
    if (!row) return false;
    op.constraint("layer_norm_c3");
    const Shape shape = shape_of(*x);
    bool good = row->size() <= shape.size();
    for (std::size_t i = 0; good && i < row->size(); ++i) {
      good = op.agree(shape[shape.size() - row->size() + i], Dim((*row)[i]));
    }
    if (!good) {
      return mismatch(op, diag::kShapeMismatch,
                      fmt::format("normalized_shape [{}] as trailing extents of operand 0",
                                  fmt::join(*row, ", ")),
                      show(op, shape));
    }
  }
  op.result(x);
  return true;
}

bool layer_norm_2d(InferContext& op) {
  op.constraint("layer_norm_2d_c1");
  const TensorType* x = ranked(op, 0, 4);
  if (x == nullptr || !takes(op, 0, *x, Elements::kFloating)) return false;
  op.constraint("layer_norm_2d_c2");
  if (!expect_attribute(op, key::kNumChannels, 0, shape_of(*x), 1)) return false;
  op.constraint("layer_norm_c2");
  if (!expect_not_negative(op, key::kEps)) return false;
  op.result(x);
  return true;
}

bool softmax(InferContext& op) {
  op.constraint("softmax_c1");
  const TensorType* x = normalised(op, 1);
  op.constraint("softmax_c2");
  if (x == nullptr || !axis_or(op, key::kAxis, x->rank(), -1)) return false;
  op.result(x);
  return true;
}

bool causal_mask(InferContext& op) {
  op.constraint("causal_mask_c1");
  const TensorType* scores = normalised(op, 2);
  if (scores == nullptr) return false;
  const auto window = boolean_or(op, key::kSlidingWindow, false);
  op.constraint("causal_mask_c2");
  if (!window || !integer_at_least(op, key::kWindowSize, *window ? 1 : 0, 0)) {
    return false;
  }
  const Shape shape = shape_of(*scores);
  const Dim queries = shape[shape.size() - 2], keys = shape.back();
  op.constraint("causal_mask_c3");
  if (!op.may_be_at_least(keys, queries)) {
    return mismatch(op, diag::kShapeMismatch, "at least as many keys as queries", show(op, shape));
  }
  op.constraint("causal_mask_c4");
  if (op.operand_count() > 1) {
    if (shape.size() < 3) {
      return mismatch(op, diag::kRankMismatch, "scores with a dimension of sequences",
                      show(op, shape));
    }
    if (!expect_positions(op, 1, shape.front(), queries)) return false;
  }
  op.result(scores);
  return true;
}

}  // namespace mir::rules
