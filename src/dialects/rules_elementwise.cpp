// Result-type rules of elementwise ops, with broadcasting.
#include "dialects/rules_support.hpp"

namespace mir::rules {

namespace {

bool unary_of(InferContext& op, Elements kind) {
  const TensorType* x = op.operand(0);
  op.constraint(kind == Elements::kFloating ? "unary_float_c1" : "unary_c1");
  if (x == nullptr || !takes(op, 0, *x, kind)) return false;
  op.result(x);
  return true;
}

/// True if all operands have elements of the kind.
bool all_take(InferContext& op, Elements kind) {
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    const TensorType* operand = op.operand(i);
    if (operand == nullptr || !takes(op, i, *operand, kind)) return false;
  }
  return true;
}

/// True if one operand is complex and the other a real number that is converted to it.
bool is_real_with_complex(const TensorType& a, const TensorType& b) {
  return is_complex(a) != is_complex(b);
}

/// Results are like operand 0, to which `mask` and `other` broadcast.
bool select(InferContext& op, std::size_t like, std::size_t mask, std::size_t other) {
  const TensorType* target = op.operand(like);
  const TensorType* condition = op.operand(mask);
  const TensorType* alternative = op.operand(other);
  if (target == nullptr || condition == nullptr || alternative == nullptr) return false;
  const Shape to = shape_of(*target);
  op.constraint("where_c1");
  if (!takes(op, mask, *condition, Elements::kTruth)) return false;
  op.constraint("where_c2");
  if (!same_elements(op, like, other)) return false;
  op.constraint("where_c3");
  if (!broadcasts_to(op, mask, shape_of(*condition), to) ||
      !broadcasts_to(op, other, shape_of(*alternative), to)) {
    return false;
  }
  op.result(target);
  return true;
}

}  // namespace

bool same(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x != nullptr) op.result(x);
  return x != nullptr;
}

bool unary(InferContext& op) {
  return unary_of(op, Elements::kNumeric);
}

bool unary_float(InferContext& op) {
  return unary_of(op, Elements::kFloating);
}

bool absolute(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr || !takes(op, 0, *x, Elements::kNumeric)) return false;
  if (is_complex(*x)) return give(op, shape_of(*x), DType::kFloat32, *x);
  op.result(x);
  return true;
}

bool binary(InferContext& op) {
  const TensorType* a = op.operand(0);
  const TensorType* b = op.operand(1);
  if (a == nullptr || b == nullptr) return false;
  op.constraint("binary_c1");
  if (!takes(op, 0, *a, Elements::kNumeric) || !takes(op, 1, *b, Elements::kNumeric)) {
    return false;
  }
  const bool mixed = is_real_with_complex(*a, *b);
  op.constraint("binary_c2");
  if (!mixed && !same_elements(op, 0, 1)) return false;
  op.constraint("binary_c3");
  const auto shape = broadcast(op, shape_of(*a), shape_of(*b));
  return shape && give(op, *shape, mixed && is_complex(*b) ? *b : *a);
}

bool binary_real(InferContext& op) {
  op.constraint("binary_real_c1");
  return all_take(op, Elements::kReal) && binary(op);
}

bool equal(InferContext& op) {
  const TensorType* a = op.operand(0);
  const TensorType* b = op.operand(1);
  if (a == nullptr || b == nullptr) return false;
  op.constraint("equal_c1");
  if (!same_elements(op, 0, 1)) return false;
  op.constraint("binary_c3");
  const auto shape = broadcast(op, shape_of(*a), shape_of(*b));
  return shape && give(op, *shape, DType::kBool, *a);
}

bool compare(InferContext& op) {
  op.constraint("compare_c1");
  return all_take(op, Elements::kOrdered) && equal(op);
}

bool logical(InferContext& op) {
  op.constraint("logical_c1");
  if (!all_take(op, Elements::kBool)) return false;
  return op.operand_count() == 1 ? same(op) : equal(op);
}

bool where(InferContext& op) {
  return select(op, 1, 0, 2);
}

bool masked_scatter(InferContext& op) {
  return select(op, 0, 1, 2);
}

bool cast_type(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key::kDtype) == nullptr) return true;
  const auto name = op.string(key::kDtype);
  if (!name) return false;
  IRContext& context = op.context();
  if (context.text(x->dtype_name()) == *name) return give(op, shape_of(*x), *x);
  op.result(context.tensor(shape_of(*x), context.intern(*name), x->device()));
  return true;
}

bool x2x(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key::kDevice) == nullptr) return true;
  const auto name = op.string(key::kDevice);
  if (!name) return false;
  IRContext& context = op.context();
  op.result(context.tensor(x->dims(), x->dtype_name(), context.intern(*name), x->encoding()));
  return true;
}

bool fill(InferContext& op) {
  const TensorType* dst = op.operand(0);
  const auto type = string_or(op, key::kType, "zeros");
  if (dst == nullptr || !type) return false;
  op.constraint("fill_c1");
  if (!expect_choice(op, key::kType, *type)) return false;
  op.result(dst);
  return true;
}

}  // namespace mir::rules
