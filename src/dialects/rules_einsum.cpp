// Rules of einsum and scatter.
#include "dialects/einsum.hpp"
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

/// The most indices that kernels take.
constexpr std::size_t kMostIndices = 32;

/// Lets the extents of operand `number` into those of its indices; reports.
bool join_extents(InferContext& op, std::size_t number, const EinsumEquation::Indices& indices,
                  Shape& extents) {
  const Shape shape = shape_of(*op.operand(number));
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    Dim& extent = extents[indices[dim]];
    const auto joined = op.broadcast(extent, shape[dim]);
    if (!joined) {
      return mismatch(op, diag::kShapeMismatch,
                      fmt::format("extent {} or 1 in dimension {} of operand {}", show(op, extent),
                                  dim, number),
                      show(op, shape));
    }
    extent = *joined;
  }
  return true;
}

}  // namespace

bool einsum(InferContext& op) {
  op.constraint("einsum_c1");
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    const TensorType* operand = op.operand(i);
    if (operand == nullptr || !takes(op, i, *operand, Elements::kNumeric) ||
        !same_elements(op, 0, i)) {
      return false;
    }
    ranks.push_back(operand->rank());
  }
  if (op.attribute(key::kEquation) == nullptr) return missing(op, key::kEquation);
  const auto text = string_or(op, key::kEquation, "");
  if (!text) return false;
  const auto equation = read_einsum(*text, ranks);
  const bool too_many = equation && equation->index_count > kMostIndices;
  op.constraint("einsum_c2");
  if (!equation || too_many) {
    return op.fail_at(key::kEquation, diag::kAttributeOutOfRange,
                      fmt::format("'equation' of '{}' is '{}': {}", op.op_name(), *text,
                                  too_many ? fmt::format("more than {} indices", kMostIndices)
                                           : equation.error().message));
  }
  Shape extents(equation->index_count, Dim(1));
  op.constraint("einsum_c3");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!join_extents(op, i, equation->operands[i], extents)) return false;
  }
  Shape out;
  for (const std::size_t index : equation->result) out.push_back(extents[index]);
  return give(op, std::move(out), *op.operand(0));
}

}  // namespace mir::rules
