// Checks of operands, element types, extents and attributes that rules share.
#include "dialects/rules_support.hpp"

#include <algorithm>

#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

// -- text -----------------------------------------------------------------------------------------

std::string show(InferContext& op, Dim extent) {
  return op.context().dims().print(extent);
}

std::string show(InferContext& op, std::span<const Dim> extents) {
  std::string text = "[";
  for (const Dim extent : extents) {
    if (text.size() > 1) text += ", ";
    text += show(op, extent);
  }
  return text + "]";
}

bool mismatch(InferContext& op, DiagCode code, std::string_view expected, std::string_view found) {
  return op.fail(code, fmt::format("'{}' takes {}, found {}", op.op_name(), expected, found));
}

// -- operands -------------------------------------------------------------------------------------

Shape shape_of(const TensorType& tensor) {
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  for (Dim& extent : shape) {
    if (extent.is_negative()) extent = Dim::unknown();
  }
  return shape;
}

const TensorType* ranked(InferContext& op, std::size_t index, std::size_t low, std::size_t high) {
  const TensorType* tensor = op.operand(index);
  if (tensor == nullptr) return nullptr;
  if (tensor->rank() >= low && tensor->rank() <= high) return tensor;
  const std::string ranks = low == high        ? fmt::format("rank {}", low)
                            : high == kAnyRank ? fmt::format("rank {} or more", low)
                                               : fmt::format("rank {} to {}", low, high);
  mismatch(op, diag::kRankMismatch, fmt::format("operand {} of {}", index, ranks),
           show(op, tensor->dims()));
  return nullptr;
}

// -- element types --------------------------------------------------------------------------------

namespace {

using enum DTypeClass;

std::optional<DTypeClass> class_of(const TensorType& tensor) {
  const auto dtype = tensor.dtype();
  return dtype ? std::optional(info(*dtype).type_class) : std::nullopt;
}

bool admits(Elements kind, DTypeClass found, DType dtype) {
  switch (kind) {
    case Elements::kFloating:
      return found == kFloat || found == kQuantised;
    case Elements::kNumeric:
      return found != kBool && found != kBytes && found != kBlock;
    case Elements::kReal:
      return admits(Elements::kNumeric, found, dtype) && found != kComplex;
    case Elements::kOrdered:
      return found == kBool || admits(Elements::kReal, found, dtype);
    case Elements::kTruth:
      return found == kBool || dtype == DType::kUInt8 || dtype == DType::kInt8;
    case Elements::kBool:
      return found == kBool;
    case Elements::kIndex:
      return dtype == DType::kInt32 || dtype == DType::kInt64;
  }
  return false;
}

std::string_view describe(Elements kind) {
  switch (kind) {
    case Elements::kFloating:
      return "floating elements";
    case Elements::kNumeric:
      return "numbers";
    case Elements::kReal:
      return "real numbers";
    case Elements::kOrdered:
      return "real numbers or Bool";
    case Elements::kTruth:
      return "Bool, UInt8 or Int8";
    case Elements::kBool:
      return "Bool";
    case Elements::kIndex:
      return "Int32 or Int64";
  }
  return "";
}

}  // namespace

bool takes(InferContext& op, std::size_t index, const TensorType& operand, Elements kind) {
  const auto found = class_of(operand);
  if (!found || admits(kind, *found, *operand.dtype())) return true;
  return mismatch(op, diag::kDTypeMismatch, fmt::format("{} as operand {}", describe(kind), index),
                  op.context().text(operand.dtype_name()));
}

bool same_elements(InferContext& op, std::size_t a, std::size_t b) {
  const TensorType* first = op.operand(a);
  const TensorType* second = op.operand(b);
  if (first == nullptr || second == nullptr) return false;
  const auto first_class = class_of(*first), second_class = class_of(*second);
  const auto stands_for_float = [](DTypeClass c) { return c == kFloat || c == kQuantised; };
  if (!first_class || !second_class || first->dtype() == second->dtype()) return true;
  if ((*first_class == kQuantised || *second_class == kQuantised) &&
      stands_for_float(*first_class) && stands_for_float(*second_class)) {
    return true;
  }
  return mismatch(op, diag::kDTypeMismatch,
                  fmt::format("operands {} and {} of one element type", a, b),
                  fmt::format("{} and {}", op.context().text(first->dtype_name()),
                              op.context().text(second->dtype_name())));
}

bool is_complex(const TensorType& tensor) {
  return class_of(tensor) == kComplex;
}

// -- extents --------------------------------------------------------------------------------------

std::optional<Dim> unify(InferContext& op, Dim a, Dim b) {
  if (!op.agree(a, b)) return std::nullopt;
  return a.is_unknown() ? b : a;
}

std::optional<Shape> broadcast(InferContext& op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const auto extent = op.broadcast(longer[lead + i], shorter[i]);
    if (!extent) {
      mismatch(op, diag::kShapeMismatch, "operands whose extents are equal or 1",
               fmt::format("{} and {}", show(op, a), show(op, b)));
      return std::nullopt;
    }
    out[lead + i] = *extent;
  }
  return out;
}

bool broadcasts_to(InferContext& op, std::size_t index, const Shape& from, const Shape& to) {
  bool good = from.size() <= to.size();
  for (std::size_t i = 0; good && i < from.size(); ++i) {
    const Dim have = from[i], want = to[to.size() - from.size() + i];
    good = op.broadcasts_to(have, want);
  }
  return good || mismatch(op, diag::kShapeMismatch,
                          fmt::format("operand {} that broadcasts to {}", index, show(op, to)),
                          show(op, from));
}

bool expect_extent(InferContext& op, std::size_t index, const Shape& shape, std::size_t dim,
                   Dim expected, std::string_view what) {
  if (op.agree(shape[dim], expected)) return true;
  return mismatch(
      op, diag::kShapeMismatch, fmt::format("{} {}", what, show(op, expected)),
      fmt::format("extent {} in dimension {} of operand {}", show(op, shape[dim]), dim, index));
}

bool expect_positions(InferContext& op, std::size_t index, Dim batch, Dim tokens) {
  const TensorType* positions = ranked(op, index, 2);
  if (positions == nullptr || !takes(op, index, *positions, Elements::kIndex)) return false;
  const Shape shape = shape_of(*positions);
  return expect_extent(op, index, shape, 0, batch, "positions of as many sequences,") &&
         expect_extent(op, index, shape, 1, tokens, "positions of as many tokens,");
}

bool expect_attribute(InferContext& op, AttrKey key, std::size_t index, const Shape& shape,
                      std::size_t dim) {
  if (op.attribute(key) == nullptr) return true;
  const auto value = op.integer(key);
  return value && expect_extent(op, index, shape, dim, Dim(*value), key);
}

std::optional<Dim> exact_quotient(InferContext& op, Dim a, Dim b) {
  DimTable& dims = op.context().dims();
  if (b.is_constant() && b.constant() == 0) return std::nullopt;
  const Dim quotient = dims.floor_divide(a, b);
  if (quotient.is_unknown()) {
    op.leave_open();
    return a.is_unknown() || b.is_unknown() ? std::optional(quotient) : std::nullopt;
  }
  return op.divides(b, a) ? std::optional(quotient) : std::nullopt;
}

bool expect_divisor(InferContext& op, std::string_view what, Dim total, Dim count) {
  if (total.is_constant() && count.is_constant()) {
    if (count.constant() > 0 && total.constant() % count.constant() == 0) return true;
  } else if (op.may_divide(count, total)) {
    return true;
  }
  return mismatch(op, diag::kShapeMismatch, what,
                  fmt::format("{} and {}", show(op, total), show(op, count)));
}

// -- attributes -----------------------------------------------------------------------------------

std::optional<std::int64_t> integer_or(InferContext& op, AttrKey key, std::int64_t otherwise) {
  return op.attribute(key) == nullptr ? otherwise : op.integer(key);
}

std::optional<bool> boolean_or(InferContext& op, AttrKey key, bool otherwise) {
  return op.attribute(key) == nullptr ? otherwise : op.boolean(key);
}

std::optional<std::string_view> string_or(InferContext& op, AttrKey key,
                                          std::string_view otherwise) {
  return op.attribute(key) == nullptr ? otherwise : op.string(key);
}

std::optional<std::int64_t> integer_at_least(InferContext& op, AttrKey key, std::int64_t low,
                                             std::int64_t otherwise) {
  const auto value = integer_or(op, key, otherwise);
  if (!value || *value >= low) return value;
  op.fail_at(
      key, diag::kAttributeOutOfRange,
      fmt::format("'{}' of '{}' is {}, expected {} or more", key.text, op.op_name(), *value, low));
  return std::nullopt;
}

std::optional<std::int64_t> required_integer(InferContext& op, AttrKey key) {
  if (op.attribute(key) != nullptr) return op.integer(key);
  missing(op, key);
  return std::nullopt;
}

bool missing(InferContext& op, AttrKey key) {
  return op.fail(diag::kAttributeMissing,
                 fmt::format("'{}' needs the attribute '{}'", op.op_name(), key.text));
}

std::optional<Dim> as_extent(const Attr& value) {
  if (value.kind() == AttrKind::kInt) return Dim(value.integer());
  if (value.kind() == AttrKind::kDim) return value.dim();
  return std::nullopt;
}

std::optional<Dim> extent_or_unknown(InferContext& op, AttrKey key) {
  const Attr* value = op.attribute(key);
  if (value == nullptr) return Dim::unknown();
  if (const auto extent = as_extent(*value)) return extent;
  if (value->kind() == AttrKind::kString && value->text() == "?") return Dim::unknown();
  op.fail_at(key, diag::kAttributeKind,
             fmt::format("attribute '{}' of '{}' is {}, expected an extent", key.text, op.op_name(),
                         value->spelling()));
  return std::nullopt;
}

bool expect_choice(InferContext& op, AttrKey key, std::string_view found) {
  const auto row = std::ranges::find(op.row().attributes, key.text, &AttrRow::name);
  if (row == op.row().attributes.end()) return true;
  if (std::ranges::find(row->choices, found) != row->choices.end()) return true;
  return op.fail_at(key, diag::kAttributeOutOfRange,
                    fmt::format("'{}' of '{}' is '{}', expected {}", key.text, op.op_name(), found,
                                fmt::join(row->choices, ", ")));
}

bool expect_boolean(InferContext& op, AttrKey key, bool found, bool expected) {
  if (found == expected) return true;
  return op.fail_at(
      key, diag::kAttributeOutOfRange,
      fmt::format("'{}' of '{}' is '{}', expected {}", key.text, op.op_name(), found, expected));
}

std::optional<Shape> stated_shape(InferContext& op) {
  if (op.attribute(key::kShape) == nullptr) {
    missing(op, key::kShape);
    return std::nullopt;
  }
  auto shape = op.dims(key::kShape);
  if (!shape) return std::nullopt;
  for (const Dim extent : *shape) {
    if (!extent.is_unknown() && !extent.is_negative()) continue;
    op.fail_at(
        key::kShape, diag::kAttributeOutOfRange,
        fmt::format("'shape' of '{}' is {}, expected extents", op.op_name(), show(op, *shape)));
    return std::nullopt;
  }
  return shape;
}

std::optional<std::size_t> axis_or(InferContext& op, AttrKey key, std::size_t rank,
                                   std::int64_t otherwise) {
  const auto value = integer_or(op, key, otherwise);
  return value ? op.axis(*value, rank, key) : std::nullopt;
}

std::optional<std::size_t> required_axis(InferContext& op, AttrKey key, std::size_t rank) {
  const auto value = required_integer(op, key);
  return value ? op.axis(*value, rank, key) : std::nullopt;
}

// -- results --------------------------------------------------------------------------------------

bool give(InferContext& op, const Shape& shape, DType dtype, const TensorType& like) {
  if (like.dtype() == dtype) return give(op, shape, like);
  IRContext& context = op.context();
  op.result(context.tensor(shape, context.intern(name_of(dtype)), like.device()));
  return true;
}

bool give(InferContext& op, Shape shape, const TensorType& like) {
  op.result(std::move(shape), like);
  return true;
}

}  // namespace mir::rules
