// Computes the shape of a slice from its bounds.
#include "dialects/all_of_dimension.hpp"
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

struct Bounds {
  std::optional<Dim> start;  ///< none: all
  std::optional<Dim> end;    ///< none: all
  std::int64_t step = 1;
};

bool bad_entry(InferContext& op, const Attr& entry, std::size_t dimension,
               std::string_view expected) {
  return op.fail_at(key::kIndices, diag::kAttributeOutOfRange,
                    fmt::format("'indices' of '{}' has {} for dimension {}, expected {}",
                                op.op_name(), entry.spelling(), dimension, expected));
}

std::optional<Bounds> read_bounds(InferContext& op, const Attr& entry, std::size_t dimension) {
  Bounds bounds;
  if (is_all_of_dimension(entry)) return bounds;
  bool good = entry.kind() == AttrKind::kDict;
  for (std::size_t i = 0; good && i < entry.entries().size(); ++i) {
    const auto& [key, value] = entry.entries()[i];
    const std::string_view field = op.context().text(key);
    if (field == key::kStep) {
      good = value->kind() == AttrKind::kInt && value->integer() >= 1;
      bounds.step = good ? value->integer() : 1;
    } else if (field == key::kStart || field == key::kEnd) {
      if (is_all_of_dimension(*value)) continue;
      auto& bound = field == key::kStart ? bounds.start : bounds.end;
      bound = as_extent(*value);
      good = bound.has_value();
    } else {
      good = false;
    }
  }
  if (good) return bounds;
  op.constraint("slice_c2");
  bad_entry(op, entry, dimension, "all or start, end and a step of 1 or more");
  return std::nullopt;
}

}  // namespace

std::optional<Dim> sliced_extent(InferContext& op, const Attr& entry, std::size_t dimension,
                                 Dim extent) {
  const auto bounds = read_bounds(op, entry, dimension);
  if (!bounds) return std::nullopt;
  ExtentMath& dims = op.extents();
  Dim start = bounds->start.value_or(kZero);
  Dim end = bounds->end.value_or(extent);
  // A single index i is written as i .. i + 1, the last one therefore as -1 .. 0.
  const bool last_one = bounds->end && start == Dim(-1) && end == kZero;
  if (start.is_negative()) start = dims.add(start, extent);
  if (bounds->end && (end.is_negative() || last_one)) end = dims.add(end, extent);

  const Dim length = dims.subtract(end, start);
  op.constraint("slice_c3");
  if (!op.may_be_at_least(start, kZero) || !op.may_be_at_least(end, kZero) ||
      !op.may_be_at_least(extent, end)) {
    bad_entry(op, entry, dimension, fmt::format("bounds within extent {}", show(op, extent)));
    return std::nullopt;
  }
  if (length.is_negative()) return kZero;
  if (!op.may_be_at_least(length, kZero)) {
    bad_entry(op, entry, dimension, "an end that is not before the start");
    return std::nullopt;
  }
  // ceil(length / step), without a sum that needs more than 64 bits.
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  if (length == kZero) return kZero;
  if (length.is_constant() || bounds->step > kLarge) {
    return dims.add(dims.floor_divide(dims.subtract(length, Dim(1)), Dim(bounds->step)), Dim(1));
  }
  return dims.floor_divide(dims.add(length, Dim(bounds->step - 1)), Dim(bounds->step));
}

std::optional<Shape> sliced_shape(InferContext& op, const Shape& shape) {
  const Attr* indices = op.attribute(key::kIndices);
  if (indices == nullptr) return shape;
  op.constraint("slice_c1");
  if (indices->kind() != AttrKind::kArray || indices->elements().size() != shape.size()) {
    op.fail_at(key::kIndices, diag::kAttributeOutOfRange,
               fmt::format("'indices' of '{}' is {}, expected an array of {} entries", op.op_name(),
                           indices->spelling(), shape.size()));
    return std::nullopt;
  }
  Shape part;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto extent = sliced_extent(op, *indices->elements()[i], i, shape[i]);
    if (!extent) return std::nullopt;
    part.push_back(*extent);
  }
  return part;
}

}  // namespace mir::rules
