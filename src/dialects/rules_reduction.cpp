// Rules of reductions, sorting, gather and compress.
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

struct Reduced {
  bool all = false;
  std::size_t dimension = 0;
};

std::optional<Reduced> reduced_dimension(InferContext& op, std::size_t rank) {
  const Attr* dim = op.attribute(key::kDim);
  if (dim == nullptr) {
    missing(op, key::kDim);
    return std::nullopt;
  }
  if (dim->kind() == AttrKind::kString && dim->text() == "all") return Reduced{.all = true};
  const auto value = op.integer(key::kDim);
  if (!value) return std::nullopt;
  if (*value == kAllDimensions) return Reduced{.all = true};
  const auto axis = op.axis(*value, rank, key::kDim);
  if (!axis) return std::nullopt;
  return Reduced{.dimension = *axis};
}

/// The reductions, of which some have no value for no elements.
bool reduce_to(InferContext& op, bool needs_elements) {
  const TensorType* x = op.operand(0);
  op.constraint("reduce_c1");
  if (x == nullptr || !takes(op, 0, *x, Elements::kNumeric)) return false;
  Shape shape = shape_of(*x);
  op.constraint("reduce_c2");
  const auto reduced = reduced_dimension(op, shape.size());
  const auto keep = boolean_or(op, key::kKeepDim, false);
  if (!reduced || !keep) return false;
  for (std::size_t i = 0; i < shape.size() && needs_elements; ++i) {
    if (reduced->all || i == reduced->dimension) op.run_needs_at_least(shape[i], Dim(1));
  }
  if (reduced->all) {
    shape.assign(*keep ? shape.size() : 1, Dim(1));
  } else if (*keep) {
    shape[reduced->dimension] = Dim(1);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(reduced->dimension));
  }
  return give(op, std::move(shape), *x);
}

}  // namespace

bool reduce(InferContext& op) {
  return reduce_to(op, false);
}

bool extremum(InferContext& op) {
  return reduce_to(op, true);
}

bool cum_sum(InferContext& op) {
  const TensorType* x = op.operand(0);
  op.constraint("cum_sum_c1");
  if (x == nullptr || !takes(op, 0, *x, Elements::kReal)) return false;
  op.constraint("cum_sum_c2");
  if (!required_axis(op, key::kDim, x->rank())) return false;
  op.result(x);
  return true;
}

bool top_k(InferContext& op) {
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr || !takes(op, 0, *x, Elements::kNumeric)) return false;
  Shape shape = shape_of(*x);
  op.constraint("top_k_c1");
  const auto dim = axis_or(op, key::kDim, shape.size(), -1);
  const auto k = required_integer(op, key::kK);
  if (!dim || !k) return false;
  const Dim extent = shape[*dim];
  if (*k < 0 || !op.may_be_at_least(extent, Dim(*k))) {
    return op.fail_at(key::kK, diag::kAttributeOutOfRange,
                      fmt::format("'k' of '{}' is {}, expected 0 to the extent {} of dimension {}",
                                  op.op_name(), *k, show(op, extent), *dim));
  }
  shape[*dim] = Dim(*k);
  return give(op, shape, *x) && give(op, shape, DType::kInt32, *x);
}

bool argsort(InferContext& op) {
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr || !takes(op, 0, *x, Elements::kNumeric)) return false;
  op.constraint("argsort_c1");
  if (!axis_or(op, key::kDim, x->rank(), -1)) return false;
  return give(op, shape_of(*x), DType::kInt32, *x);
}

bool gather(InferContext& op) {
  const TensorType* table = ranked(op, 0, 1, kAnyRank);
  const TensorType* indices = op.operand(1);
  if (table == nullptr || indices == nullptr) return false;
  op.constraint("gather_c1");
  if (indices->dtype() != DType::kFloat32 && !takes(op, 1, *indices, Elements::kIndex)) {
    return false;
  }
  const Shape shape = shape_of(*table), picked = shape_of(*indices);
  op.constraint("gather_c2");
  const auto dim = required_axis(op, key::kDim, shape.size());
  if (!dim) return false;
  op.run_needs_indices(1, shape[*dim], true);
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(*dim);
  Shape out(shape.begin(), at);
  out.insert(out.end(), picked.begin(), picked.end());
  out.insert(out.end(), at + 1, shape.end());
  return give(op, std::move(out), *table);
}

bool compress(InferContext& op) {
  op.constraint("compress_c3");
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  const TensorType* mask = ranked(op, 1, 1, 1);
  if (x == nullptr || mask == nullptr) return false;
  op.constraint("compress_c1");
  if (!takes(op, 1, *mask, Elements::kTruth)) return false;
  op.constraint("compress_c2");
  const auto dim = axis_or(op, key::kDim, x->rank(), 0);
  if (!dim) return false;
  op.constraint("compress_c3");
  Shape shape = shape_of(*x);
  if (!expect_extent(op, 1, shape_of(*mask), 0, shape[*dim], "a mask of extent")) return false;
  shape[*dim] = Dim::unknown();
  return give(op, std::move(shape), *x);
}

bool scatter(InferContext& op) {
  op.constraint("scatter_c1");
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr || !same_elements(op, 0, 2)) return false;
  op.constraint("scatter_c2");
  const auto reduce = string_or(op, key::kReduce, "none");
  if (!reduce || !expect_choice(op, key::kReduce, *reduce) ||
      (*reduce != "none" && !takes(op, 0, *x, Elements::kNumeric))) {
    return false;
  }
  op.constraint("scatter_c3");
  const Shape shape = shape_of(*x);
  const TensorType* indices = ranked(op, 1, shape.size());
  if (indices == nullptr || !takes(op, 1, *indices, Elements::kIndex)) return false;
  const TensorType* source = ranked(op, 2, shape.size());
  if (source == nullptr) return false;
  op.constraint("scatter_c4");
  const auto dim = required_axis(op, key::kDim, shape.size());
  if (!dim) return false;
  op.constraint("scatter_c5");
  const Shape places = shape_of(*indices), values = shape_of(*source);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!expect_extent(op, 2, values, i, places[i], "a value for each index, here")) return false;
    if (i != *dim && !op.may_be_at_least(shape[i], places[i])) {
      return mismatch(op, diag::kShapeMismatch,
                      fmt::format("at most {} indices in dimension {}", show(op, shape[i]), i),
                      show(op, places));
    }
  }
  op.run_needs_indices(1, shape[*dim], true);
  op.result(x);
  return true;
}

}  // namespace mir::rules
