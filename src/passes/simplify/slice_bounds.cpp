// Rewrites slice bounds to their shortest spelling.
#include "passes/simplify/slice_bounds.hpp"

#include <memory>
#include <vector>

#include "dialects/all_of_dimension.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

/// The bounds of one dimension, null where they are missing.
struct SliceEntry {
  const Attr *start = nullptr, *end = nullptr, *step = nullptr;
};

bool is_number(const Attr* bound, std::int64_t number) {
  return bound != nullptr && bound->kind() == AttrKind::kInt && bound->integer() == number;
}

const Attr* entry_of(IRContext& context, const SliceEntry& entry) {
  std::vector<NamedAttr> fields;
  const auto add = [&](Symbol key, const Attr* value) {
    if (value != nullptr) fields.push_back({key, value});
  };
  add(key::kStart, entry.start);
  add(key::kEnd, entry.end);
  add(key::kStep, entry.step);
  return context.dict(fields);
}

class SliceSpelling {
 public:
  explicit SliceSpelling(Op& slice) : slice_(slice), context_(slice.module().context()) {}

  /// The entries in their shortest form; null if a bound or an extent is not what it must be.
  const Attr* shortest() const {
    const Attr* indices = slice_.attribute(key::kIndices);
    const TensorType* type = slice_.operand(0)->tensor_type();
    const bool fits = type != nullptr && indices != nullptr &&
                      indices->kind() == AttrKind::kArray &&
                      indices->elements().size() == type->rank();
    if (!fits) return nullptr;
    std::vector<const Attr*> entries;
    for (std::size_t dim = 0; dim < type->rank(); ++dim) {
      const Attr* entry = shortest(*indices->elements()[dim], dim, type->dims()[dim]);
      if (entry == nullptr) return nullptr;
      entries.push_back(entry);
    }
    return context_.array(entries);
  }

 private:
  const Attr* shortest(const Attr& entry, std::size_t dim, Dim extent) const {
    if (extent.is_constant()) {
      const std::size_t rank = slice_.operand(0)->tensor_type()->rank();
      const auto bounds = slice_bounds(slice_, rank, dim, extent.constant(), nullptr);
      if (bounds) return slice_entry(context_, *bounds, extent.constant());
    }
    if (takes_all(entry)) return entry_of(context_, {});
    if (entry.kind() != AttrKind::kDict) return nullptr;
    SliceEntry found;
    for (const NamedAttr& field : entry.entries()) {
      const std::string_view key = context_.text(field.key);
      if (key != key::kStep && is_all_of_dimension(*field.value)) continue;
      (key == key::kStart ? found.start : key == key::kEnd ? found.end : found.step) = field.value;
    }
    const bool is_last = is_number(found.start, -1) && is_number(found.end, 0);
    const bool is_extent =
        found.end != nullptr && found.end->kind() == AttrKind::kDim && found.end->dim() == extent;
    if (is_last || is_extent) found.end = nullptr;
    if (is_number(found.start, 0)) found.start = nullptr;
    if (is_number(found.step, 1)) found.step = nullptr;
    return entry_of(context_, found);
  }

  Op& slice_;
  IRContext& context_;
};

PatternMatch match_bounds(Op& slice) {
  const Attr* shortest = SliceSpelling(slice).shortest();
  if (shortest == nullptr) return PatternMatch::failed("bounds or extents are not known", slice);
  if (shortest == slice.attribute(key::kIndices))
    return PatternMatch::failed("the bounds are in their shortest form", slice);
  return PatternMatch::of({&slice}, {}, std::make_shared<const Attr*>(shortest));
}

void write_bounds(Rewriter& rewriter, const PatternMatch& match) {
  rewriter.set_attribute(match.root(), key::kIndices, match.plan<const Attr*>());
}

}  // namespace

const Attr* slice_entry(IRContext& context, const SliceBounds& bounds, std::int64_t extent) {
  SliceEntry entry;
  if (bounds.length == 0) return entry_of(context, {.end = context.integer(0)});
  const std::int64_t last = bounds.start + (bounds.length - 1) * bounds.step;
  if (bounds.start != 0) entry.start = context.integer(bounds.start);
  if (bounds.length > 1 && bounds.step != 1) entry.step = context.integer(bounds.step);
  // Without an end, the step decides how far the slice goes.
  const std::int64_t step = entry.step == nullptr ? 1 : bounds.step;
  if (last + step < extent) entry.end = context.integer(last + 1);
  return entry_of(context, entry);
}

RewritePattern shortest_slice_bounds() {
  return {.name = "shorten-slice-bounds",
          .roots = {.names = {"linalg.SliceOp"}},
          .match = match_bounds,
          .rewrite = write_bounds};
}

}  // namespace mir
