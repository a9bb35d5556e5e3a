// Rules of views, slices, copies and extents.
#include <algorithm>
#include <limits>

#include "dialects/rules_support.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

bool is_open(Dim extent) {
  return extent.is_unknown() || (extent.is_constant() && extent.constant() == -1);
}

bool counts_differ(InferContext& op, const Shape& from, const Shape& to) {
  return mismatch(op, diag::kElementCountMismatch,
                  fmt::format("a shape with the elements of {}", show(op, from)), show(op, to));
}

/// The number of elements; no value after reporting that it overflows.
std::optional<Dim> counted(InferContext& op, const Shape& shape) {
  ExtentMath math(op.context().dims());
  Dim total(1);
  for (const Dim extent : shape) total = math.multiply(total, extent);
  if (!math.has_overflowed()) return total;
  op.fail(diag::kExtentOverflow,
          fmt::format("the element count of {}, a shape of '{}', does not fit 63 bits",
                      show(op, shape), op.op_name()));
  return std::nullopt;
}

bool reshape_to(InferContext& op, AttrKey key) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key) == nullptr) return true;
  auto wanted = op.dims(key);
  if (!wanted) return false;
  const Shape from = shape_of(*x);
  const auto open = std::ranges::find_if(*wanted, is_open);
  const auto bad =
      std::ranges::find_if(*wanted, [](Dim d) { return d.is_constant() && d.constant() < -1; });
  op.constraint("view_c1");
  if (bad != wanted->end() ||
      (open != wanted->end() && std::find_if(open + 1, wanted->end(), is_open) != wanted->end())) {
    return op.fail_at(key, diag::kAttributeOutOfRange,
                      fmt::format("'{}' of '{}' is {}, expected extents of which one may be -1",
                                  key, op.op_name(), show(op, *wanted)));
  }
  Shape others = *wanted;
  if (open != wanted->end()) others.erase(others.begin() + (open - wanted->begin()));
  op.constraint("view_c2");
  const auto have = counted(op, from), need = counted(op, others);
  if (!have || !need) return false;
  if (open == wanted->end()) {
    if (!op.agree(*have, *need)) return counts_differ(op, from, *wanted);
  } else {
    const auto rest = exact_quotient(op, *have, *need);
    if (!rest) return counts_differ(op, from, *wanted);
    *open = *rest;
  }
  return give(op, std::move(*wanted), *x);
}

/// One entry of Index; appends the extents it makes.
bool append_indexed(InferContext& op, const Attr& entry, std::size_t dimension, Dim extent,
                    Shape& out) {
  if (entry.kind() == AttrKind::kArray) {
    op.constraint("index_c2");
    for (const Attr* element : entry.elements()) {
      const bool in_range = element->kind() == AttrKind::kInt && element->integer() >= 0 &&
                            element->integer() < std::numeric_limits<std::int64_t>::max() &&
                            op.may_be_at_least(extent, Dim(element->integer() + 1));
      if (!in_range) {
        return op.fail_at(
            key::kIndices, diag::kAttributeOutOfRange,
            fmt::format("'indices' of '{}' has {} for dimension {} of extent {}", op.op_name(),
                        element->spelling(), dimension, show(op, extent)));
      }
    }
    out.emplace_back(static_cast<std::int64_t>(entry.elements().size()));
    return true;
  }
  if (entry.kind() != AttrKind::kInt) {
    const auto part = sliced_extent(op, entry, dimension, extent);
    if (part) out.push_back(*part);
    return part.has_value();
  }
  op.constraint("index_c3");
  if (entry.integer() < 1 || static_cast<std::uint64_t>(entry.integer()) >= op.operand_count()) {
    return op.fail_at(key::kIndices, diag::kAttributeOutOfRange,
                      fmt::format("'indices' of '{}' names operand {}, expected 1 to {}",
                                  op.op_name(), entry.integer(), op.operand_count() - 1));
  }
  const auto number = static_cast<std::size_t>(entry.integer());
  const TensorType* indices = op.operand(number);
  if (indices == nullptr || !takes(op, number, *indices, Elements::kIndex)) return false;
  op.run_needs_indices(number, extent, true);
  const Shape extents = shape_of(*indices);
  out.insert(out.end(), extents.begin(), extents.end());
  return true;
}

}  // namespace

bool view(InferContext& op) {
  return reshape_to(op, key::kToShape);
}

bool reshape(InferContext& op) {
  return reshape_to(op, key::kShape);
}

bool extent(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  op.constraint("extent_c1");
  return required_axis(op, key::kDim, x->rank()) && give(op, {Dim(1)}, DType::kInt64, *x);
}

bool match_shape(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  op.constraint("match_shape_c1");
  auto shape = stated_shape(op);
  if (!shape) return false;
  op.constraint("match_shape_c2");
  if (shape->size() != x->rank()) {
    return mismatch(op, diag::kRankMismatch, "an operand with the rank of " + show(op, *shape),
                    show(op, shape_of(*x)));
  }
  for (std::size_t i = 0; i < shape->size(); ++i) op.run_needs_equal(x->dims()[i], (*shape)[i]);
  return give(op, *std::move(shape), *x);
}

bool slice(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  if (op.attribute(key::kIndices) == nullptr) return missing(op, key::kIndices);
  auto part = sliced_shape(op, shape_of(*x));
  return part && give(op, std::move(*part), *x);
}

bool split(InferContext& op) {
  const TensorType* x = ranked(op, 0, 1, kAnyRank);
  if (x == nullptr) return false;
  Shape shape = shape_of(*x);
  op.constraint("split_c1");
  const auto dim = required_axis(op, key::kDim, shape.size());
  if (!dim) return false;
  if (op.attribute(key::kSplitSizeOrSections) == nullptr) {
    return missing(op, key::kSplitSizeOrSections);
  }
  auto sizes = op.dims(key::kSplitSizeOrSections);
  if (!sizes) return false;
  const Dim whole = shape[*dim];
  const auto pieces = static_cast<std::int64_t>(op.result_count());
  ExtentMath& dims = op.extents();
  if (sizes->size() == 1) {
    const Dim size = sizes->front();
    op.constraint("split_c3");
    if (!op.agree(dims.multiply(size, Dim(pieces)), whole)) {
      return mismatch(op, diag::kShapeMismatch,
                      fmt::format("{} pieces of extent {}", pieces, show(op, size)),
                      fmt::format("extent {}", show(op, whole)));
    }
    sizes->assign(op.result_count(), size);
  }
  Dim total = kZero;
  for (const Dim size : *sizes) total = dims.add(total, size);
  op.constraint("split_c2");
  if (sizes->size() != op.result_count()) {
    return op.fail(diag::kResultCountMismatch,
                   fmt::format("'{}' with {} pieces has {} results", op.op_name(), sizes->size(),
                               op.result_count()));
  }
  op.constraint("split_c3");
  if (!op.agree(total, whole)) {
    return mismatch(
        op, diag::kShapeMismatch,
        fmt::format("pieces {} of extent {} together", show(op, *sizes), show(op, whole)),
        fmt::format("{}", show(op, total)));
  }
  for (const Dim size : *sizes) {
    if (size.is_negative()) {
      return op.fail_at(key::kSplitSizeOrSections, diag::kAttributeOutOfRange,
                        fmt::format("'split_size_or_sections' of '{}' has the negative extent {}",
                                    op.op_name(), size.constant()));
    }
    shape[*dim] = size;
    give(op, shape, *x);
  }
  return true;
}

bool copy(InferContext& op) {
  const TensorType* src = op.operand(0);
  const TensorType* dst = op.operand(1);
  op.constraint("copy_c1");
  if (src == nullptr || dst == nullptr || !same_elements(op, 0, 1)) return false;
  if (op.result_count() == 0) return true;
  const auto part = sliced_shape(op, shape_of(*dst));
  if (!part) return false;
  op.constraint("copy_c2");
  const auto have = counted(op, shape_of(*src)), need = counted(op, *part);
  if (!have || !need) return false;
  if (!op.agree(*have, *need)) {
    return mismatch(op, diag::kElementCountMismatch,
                    fmt::format("a source with the elements of {}", show(op, *part)),
                    show(op, src->dims()));
  }
  op.result(dst);
  return true;
}

bool index(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  const Attr* indices = op.attribute(key::kIndices);
  if (indices == nullptr) return true;
  const Shape shape = shape_of(*x);
  op.constraint("index_c1");
  if (indices->kind() != AttrKind::kArray || indices->elements().size() != shape.size()) {
    return op.fail_at(key::kIndices, diag::kAttributeOutOfRange,
                      fmt::format("'indices' of '{}' is {}, expected an array of {} entries",
                                  op.op_name(), indices->spelling(), shape.size()));
  }
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!append_indexed(op, *indices->elements()[i], i, shape[i], out)) return false;
  }
  return give(op, std::move(out), *x);
}

}  // namespace mir::rules
