// Computes only the part of a result that is used.
#include <algorithm>
#include <memory>
#include <vector>

#include "dialects/all_of_dimension.hpp"
#include "ir/equal_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/infer.hpp"
#include "mir/tensor.hpp"
#include "passes/sink/op_motion.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// How many trailing dimensions of operand 0 an op takes as one row; no value for ops that do not
/// work row by row.
std::optional<std::size_t> row_rank(const Op& op) {
  switch (op.op_id()) {
    case OpId::kLinalgLinear:
    case OpId::kLinalgRMSNorm:
      return 1;
    case OpId::kLinalgLayerNorm: {
      const Attr* shape = op.attribute(key::kNormalizedShape);
      if (shape == nullptr || shape->kind() != AttrKind::kArray) return std::nullopt;
      return shape->elements().size();
    }
    default:
      return std::nullopt;
  }
}

bool keeps_rows(const Op& slice, std::size_t rank) {
  const Attr* indices = slice.attribute(key::kIndices);
  if (indices == nullptr || indices->kind() != AttrKind::kArray) return false;
  const auto entries = indices->elements();
  if (entries.size() != slice.operand(0)->tensor_type()->rank() || entries.size() < rank) {
    return false;
  }
  return std::ranges::all_of(entries.last(rank), [](const Attr* each) { return takes_all(*each); });
}

struct SlicePlan {
  struct Part {
    std::uint32_t operand = 0;
    const Type* type = nullptr;  ///< of its slice
  };
  std::vector<Part> parts;
};

/// slice(f(x, w)) -> f(slice(x), w)
PatternMatch match_slice(Op& slice) {
  const auto failed = [&](std::string_view why) { return PatternMatch::failed(why, slice); };
  if (const auto why = why_fixed(slice); !why.empty()) return failed(why);
  if (slice.operand_count() != 1) return failed("the slice has bounds that are values");
  Value& whole = *slice.operand(0);
  Op* op = whole.defining_op();
  if (op == nullptr || op->block() != slice.block() || whole.use_count() != 1) {
    return failed("no op with one user computes what is sliced");
  }
  if (const auto why = why_fixed(*op); !why.empty()) return failed(why);
  const TensorType &from = *whole.tensor_type(), &to = *slice.result()->tensor_type();
  if (from.rank() != to.rank() || equal_extents(from, to)) {
    return failed("the slice takes all");
  }
  const auto rows = row_rank(*op);
  const bool is_elementwise = op->has(Trait::kElementwise);
  if (!is_elementwise && !(rows && keeps_rows(slice, *rows))) {
    return failed("the op does not compute the elements of the slice alone");
  }
  auto plan = std::make_shared<SlicePlan>();
  std::vector<const Type*> types = operand_types(*op);
  for (std::uint32_t i = 0; i < op->operand_count(); ++i) {
    if (!is_elementwise && i != 0) continue;  // a weight
    const TensorType& type = *op->operand(i)->tensor_type();
    // The one operand of an elementwise op has the extents of the result. Of several, one with an
    // unknown extent may be broadcast.
    const bool fits = !is_elementwise            ? type.rank() == from.rank()
                      : op->operand_count() == 1 ? std::ranges::equal(type.dims(), from.dims())
                                                 : equal_extents(type, from);
    if (!fits) {
      if (is_elementwise && type.element_count() == 1) continue;  // one number for all elements
      return failed("an operand is broadcast");
    }
    const Type* part = type_with(slice, std::span(&types[i], 1));
    if (part == nullptr) return failed("the slice does not fit an operand");
    types[i] = part;
    plan->parts.push_back({i, part});
  }
  if (plan->parts.empty()) return failed("no operand has what is sliced");
  if (type_with(*op, types) != slice.result()->type()) {
    return failed("the result would have another type");
  }
  return PatternMatch::of({&slice, op}, {}, std::move(plan));
}

void move_slice(Rewriter& rewriter, const PatternMatch& match) {
  Op &slice = match.root(), &op = *match.ops()[1];
  rewriter.set_insertion_point(op);
  for (const SlicePlan::Part& part : match.plan<SlicePlan>().parts) {
    Value* whole = op.operand(part.operand);
    Op* made = create_with(rewriter, slice, std::span(&whole, 1), part.type);
    rewriter.set_operand(op, part.operand, made->result());
  }
  rewriter.set_type(*op.result(), slice.result()->type());
  Value* const values[] = {op.result()};
  rewriter.replace(slice, values);
}

}  // namespace

Pass narrow_slices_pass() {
  return pattern_pass({.name = "narrow-slices",
                       .summary = "computes only the part of a result that a slice takes",
                       .anchor = Anchor::kGraph,
                       .takes = PassForm::kPortable,
                       .is_idempotent = true,
                       .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
                       .patterns = [](IRContext&, const PassOptions&) {
                         PatternSet set;
                         set.add({.name = "narrow-slices",
                                  .roots = {.names = {"linalg.SliceOp"}},
                                  .makes = {"linalg.SliceOp"},
                                  .match = match_slice,
                                  .rewrite = move_slice});
                         return set;
                       }});
}

}  // namespace mir
