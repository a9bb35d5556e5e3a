// Rules of ops that move, repeat, join or generate elements.
#include <utility>

#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

/// Reports unless operand `index` has the shape of operand 0 in every dimension but `except`;
/// unknown extents of `shape` take what the operand has.
bool join_shape(InferContext& op, std::size_t index, std::size_t except, Shape& shape) {
  const TensorType* tensor = ranked(op, index, shape.size());
  if (tensor == nullptr) return false;
  const Shape other = shape_of(*tensor);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == except) continue;
    const auto extent = unify(op, shape[i], other[i]);
    if (!extent) {
      return mismatch(
          op, diag::kShapeMismatch,
          fmt::format("extent {} in dimension {} of every operand", show(op, shape[i]), i),
          fmt::format("{} as operand {}", show(op, other), index));
    }
    shape[i] = *extent;
  }
  return true;
}

constexpr std::size_t kNoDimension = static_cast<std::size_t>(-1);

}  // namespace

bool transpose(InferContext& op) {
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr) return false;
  Shape shape = shape_of(*x);
  op.constraint("transpose_c1");
  const auto first = required_axis(op, key::kDim0, shape.size());
  const auto second = required_axis(op, key::kDim1, shape.size());
  if (!first || !second) return false;
  std::swap(shape[*first], shape[*second]);
  return give(op, std::move(shape), *x);
}

bool permute(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key::kAxis) == nullptr) return missing(op, key::kAxis);
  const auto order = op.integers(key::kAxis);
  if (!order) return false;
  const Shape shape = shape_of(*x);
  op.constraint("permute_c1");
  if (order->size() != shape.size()) {
    return op.fail_at(key::kAxis, diag::kAttributeOutOfRange,
                      fmt::format("'axis' of '{}' has {} entries, expected {}", op.op_name(),
                                  order->size(), shape.size()));
  }
  Shape out;
  std::vector<bool> taken(shape.size(), false);
  for (const std::int64_t entry : *order) {
    const auto axis = op.axis(entry, shape.size(), key::kAxis);
    if (!axis) return false;
    op.constraint("permute_c2");
    if (taken[*axis]) {
      return op.fail_at(key::kAxis, diag::kAttributeOutOfRange,
                        fmt::format("'axis' of '{}' has dimension {} twice", op.op_name(), *axis));
    }
    taken[*axis] = true;
    out.push_back(shape[*axis]);
  }
  return give(op, std::move(out), *x);
}

bool repeat(InferContext& op) {
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr) return false;
  Shape shape = shape_of(*x);
  op.constraint("repeat_c1");
  const auto dim = required_axis(op, key::kDim, shape.size());
  if (!dim) return false;
  if (op.attribute(key::kRepeatTimes) == nullptr) return missing(op, key::kRepeatTimes);
  op.constraint("repeat_c2");
  const auto times = integer_at_least(op, key::kRepeatTimes, 0, 1);
  if (!times) return false;
  shape[*dim] = op.extents().multiply(shape[*dim], Dim(*times));
  return give(op, std::move(shape), *x);
}

bool concat(InferContext& op) {
  const TensorType* first = ranked(op, 0, 1, kAnyRank);
  if (first == nullptr) return false;
  Shape shape = shape_of(*first);
  op.constraint("concat_c1");
  const auto dim = required_axis(op, key::kDim, shape.size());
  if (!dim) return false;
  Dim total = shape[*dim];
  for (std::size_t i = 1; i < op.operand_count(); ++i) {
    op.constraint("concat_c2");
    if (!join_shape(op, i, *dim, shape)) return false;
    op.constraint("concat_c3");
    if (!same_elements(op, 0, i)) return false;
    total = op.extents().add(total, shape_of(*op.operand(i))[*dim]);
  }
  shape[*dim] = total;
  return give(op, std::move(shape), *first);
}

bool random_uniform(InferContext& op) {
  op.constraint("random_uniform_c1");
  const TensorType* state = ranked(op, 0, 1);
  if (state == nullptr || !expect_extent(op, 0, shape_of(*state), 0, Dim(2), "a state of extent")) {
    return false;
  }
  if (state->dtype() && state->dtype() != DType::kInt64) {
    return op.fail(diag::kDTypeMismatch, fmt::format("'{}' takes a state of Int64, found {}",
                                                     op.op_name(), name_of(*state->dtype())));
  }
  op.constraint("random_uniform_c2");
  auto shape = stated_shape(op);
  if (!shape || !give(op, *std::move(shape), DType::kFloat32, *state)) return false;
  op.result(state);
  return true;
}

bool iota(InferContext& op) {
  op.constraint("iota_c1");
  const auto shape = stated_shape(op);
  if (!shape) return false;
  op.constraint("iota_c2");
  if (!required_axis(op, key::kDim, shape->size())) return false;
  op.constraint("iota_c3");
  if (op.attribute(key::kDtype) == nullptr) return missing(op, key::kDtype);
  const auto name = op.string(key::kDtype);
  if (!name) return false;
  IRContext& context = op.context();
  const TensorType* type = context.tensor(*shape, context.intern(*name), op.device());
  const auto dtype = type == nullptr ? std::nullopt : type->dtype();
  using enum DTypeClass;
  const auto found = dtype ? info(*dtype).type_class : kFloat;
  if (found != kFloat && found != kSignedInt && found != kUnsignedInt) {
    return op.fail_at(key::kDtype, diag::kDTypeMismatch,
                      fmt::format("'dtype' of '{}' is {}, expected a floating or integer type",
                                  op.op_name(), *name));
  }
  op.result(type);
  return true;
}

bool stack(InferContext& op) {
  const TensorType* first = op.operand(0);
  if (first == nullptr) return false;
  Shape shape = shape_of(*first);
  op.constraint("stack_c1");
  const auto dim = required_axis(op, key::kDim, shape.size() + 1);
  if (!dim) return false;
  for (std::size_t i = 1; i < op.operand_count(); ++i) {
    op.constraint("stack_c2");
    if (!join_shape(op, i, kNoDimension, shape) || !same_elements(op, 0, i)) return false;
  }
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*dim),
               Dim(static_cast<std::int64_t>(op.operand_count())));
  return give(op, std::move(shape), *first);
}

bool pad(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key::kPad) == nullptr) return missing(op, key::kPad);
  op.constraint("pad_c1");
  const auto margins = op.integers(key::kPad);
  const auto mode = string_or(op, key::kMode, "constant");
  if (!margins || !mode || !expect_choice(op, key::kMode, *mode)) return false;
  op.constraint("pad_c2");
  Shape shape = shape_of(*x);
  if (margins->size() % 2 != 0 || margins->size() / 2 > shape.size()) {
    return op.fail_at(key::kPad, diag::kAttributeOutOfRange,
                      fmt::format("'pad' of '{}' has {} entries, expected two for each of up to {} "
                                  "dimensions",
                                  op.op_name(), margins->size(), shape.size()));
  }
  ExtentMath& dims = op.extents();
  for (std::size_t i = 0; i < margins->size(); ++i) {
    if ((*margins)[i] < 0) {
      return op.fail_at(
          key::kPad, diag::kAttributeOutOfRange,
          fmt::format("'pad' of '{}' has {}, expected 0 or more", op.op_name(), (*margins)[i]));
    }
    Dim& extent = shape[shape.size() - 1 - i / 2];
    if (*mode != "constant") op.run_needs_at_least(extent, Dim(1));
    extent = dims.add(extent, Dim((*margins)[i]));
  }
  return give(op, std::move(shape), *x);
}

}  // namespace mir::rules
