// Simplifies slices of concatenations and concatenations of slices.
#include "passes/simplify/joined_slices.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "dialects/all_of_dimension.hpp"
#include "eval/slices.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "passes/simplify/slice_bounds.hpp"
#include "passes/sink/op_motion.hpp"

namespace mir {

namespace {

PatternMatch not_joined(std::string_view why, const Op& at) {
  return PatternMatch::failed(why, at);
}

/// The dimension of a ConcatOp, from 0 on.
std::optional<std::size_t> joined_dimension(const Op& concat) {
  const TensorType* type = concat.result()->tensor_type();
  if (type == nullptr) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(type->rank());
  const std::int64_t dim = OpAttributes(concat).integer(key::kDim);
  if (dim < -rank || dim >= rank) return std::nullopt;
  return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
}

/// The extent of a dimension of a value, if it is a number.
std::optional<std::int64_t> extent_of(const Value& value, std::size_t dim) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr || dim >= type->rank() || !type->dims()[dim].is_constant()) return {};
  return type->dims()[dim].constant();
}

/// The entries of a slice that has no operands for bounds, one for each dimension; else empty.
std::span<const Attr* const> entries_of(const Op& slice) {
  const Attr* indices = slice.attribute(key::kIndices);
  const TensorType *from = slice.operand(0)->tensor_type(), *to = slice.result()->tensor_type();
  const bool fits = slice.operand_count() == 1 && indices != nullptr && from != nullptr &&
                    to != nullptr && from->rank() == to->rank() &&
                    indices->kind() == AttrKind::kArray &&
                    indices->elements().size() == from->rank();
  return fits ? indices->elements() : std::span<const Attr* const>{};
}

/// Returns the bounds that a slice selects of a dimension of known extent.
std::optional<SliceBounds> bounds_in(const Op& slice, std::size_t dim) {
  const Value& from = *slice.operand(0);
  const auto extent = extent_of(from, dim);
  if (!extent) return std::nullopt;
  const auto bounds = slice_bounds(slice, from.tensor_type()->rank(), dim, *extent, nullptr);
  return bounds ? std::optional(*bounds) : std::nullopt;
}

bool takes_all_but(std::span<const Attr* const> entries, std::size_t dim) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i != dim && !takes_all(*entries[i])) return false;
  }
  return true;
}

struct PartOfConcat {
  std::uint32_t operand = 0;
  const Attr* indices = nullptr;  ///< null: the operand itself
};

PatternMatch match_slice_of_concat(Op& slice) {
  if (const auto why = why_fixed(slice); !why.empty()) return not_joined(why, slice);
  const auto entries = entries_of(slice);
  if (entries.empty()) return not_joined("the bounds are not numbers for each dimension", slice);
  Op* concat = slice.operand(0)->defining_op();
  if (concat == nullptr || !concat->is(OpId::kLinalgConcat)) {
    return not_joined("no ConcatOp makes the operand", slice);
  }
  if (const auto why = why_fixed(*concat); !why.empty()) return not_joined(why, *concat);
  const auto dim = joined_dimension(*concat);
  const auto bounds = dim ? bounds_in(slice, *dim) : std::nullopt;
  if (!bounds || bounds->length < 1 || bounds->step < 1) {
    return not_joined("the elements or the extent of the joined dimension are not known", slice);
  }
  const std::int64_t last = bounds->start + (bounds->length - 1) * bounds->step;
  std::int64_t first = 0;
  for (std::uint32_t i = 0; i < concat->operand_count(); ++i) {
    const Value& part = *concat->operand(i);
    const auto extent = extent_of(part, *dim);
    if (!extent) return not_joined("an operand has an extent that is not known", *concat);
    const std::int64_t end = first + *extent;
    if (bounds->start >= first && last < end) {
      if (bounds->length == *extent && takes_all_but(entries, *dim) &&
          part.type() == slice.result()->type()) {
        return PatternMatch::of({&slice, concat}, {},
                                std::make_shared<PartOfConcat>(PartOfConcat{i}));
      }
      IRContext& context = slice.module().context();
      std::vector<const Attr*> moved(entries.begin(), entries.end());
      moved[*dim] = slice_entry(
          context, {.start = bounds->start - first, .step = bounds->step, .length = bounds->length},
          *extent);
      return PatternMatch::of(
          {&slice, concat}, {},
          std::make_shared<PartOfConcat>(PartOfConcat{i, context.array(moved)}));
    }
    first = end;
  }
  return not_joined("the elements are those of several operands", slice);
}

void slice_part(Rewriter& rewriter, const PatternMatch& match) {
  Op &slice = match.root(), &concat = *match.ops()[1];
  const PartOfConcat part = match.plan<PartOfConcat>();
  Value* value = concat.operand(part.operand);
  if (part.indices == nullptr) return rewriter.replace(slice, std::span(&value, 1));
  rewriter.set_operand(slice, 0, value);
  rewriter.set_attribute(slice, key::kIndices, part.indices);
}

PatternMatch match_concat_of_slices(Op& concat) {
  if (const auto why = why_fixed(concat); !why.empty()) return not_joined(why, concat);
  const auto dim = joined_dimension(concat);
  if (!dim || concat.operand_count() == 0) return not_joined("the rank is not known", concat);
  const Value* whole = nullptr;
  std::vector<Op*> ops = {&concat};
  std::int64_t next = 0;
  for (std::uint32_t i = 0; i < concat.operand_count(); ++i) {
    Op* slice = concat.operand(i)->defining_op();
    if (slice == nullptr || !slice->is(OpId::kLinalgSlice)) {
      return not_joined("an operand is no slice", concat);
    }
    if (const auto why = why_fixed(*slice); !why.empty()) return not_joined(why, *slice);
    if (whole == nullptr) whole = slice->operand(0);
    const auto entries = entries_of(*slice);
    std::optional<SliceBounds> bounds;
    if (!entries.empty()) bounds = bounds_in(*slice, *dim);
    const bool follows = slice->operand(0) == whole && bounds && takes_all_but(entries, *dim) &&
                         bounds->start == next && (bounds->step == 1 || bounds->length == 1);
    if (!follows) return not_joined("a slice does not begin where the one before ends", *slice);
    next += bounds->length;
    ops.push_back(slice);
  }
  if (whole->type() != concat.result()->type()) {
    return not_joined("the slices are not all of the value", concat);
  }
  return PatternMatch::of(std::move(ops));
}

void join_slices(Rewriter& rewriter, const PatternMatch& match) {
  Op& concat = match.root();
  Value* whole = concat.operand(0)->defining_op()->operand(0);
  rewriter.replace(concat, std::span(&whole, 1));
}

}  // namespace

RewritePattern slice_of_concat() {
  return {.name = "slice-of-concat",
          .roots = {.names = {"linalg.SliceOp"}},
          .match = match_slice_of_concat,
          .rewrite = slice_part};
}

RewritePattern concat_of_slices() {
  return {.name = "concat-of-slices",
          .roots = {.names = {"linalg.ConcatOp"}},
          .match = match_concat_of_slices,
          .rewrite = join_slices};
}

}  // namespace mir
