// Upgrade step: infers which operands of matrix products are transposed.
#include <algorithm>
#include <string>
#include <vector>

#include "upgrade/steps/option_rules.hpp"

// How products read their operands. Dumps do not say, and square operands fit more than one
// reading.

namespace mir {

namespace {

/// The operand whose elements, scaled or converted, are those of the op's result at the same
/// places; null if there is none.
const Value* matrix_of(const Op& op) {
  if (op.result_count() != 1 || op.result()->tensor_type() == nullptr || !scales_elements(op)) {
    return nullptr;
  }
  const Value* matrix = nullptr;
  for (const Use& use : op.plain_operands()) {
    const Value* operand = use.value();
    const TensorType* type = operand->tensor_type();
    if (type == nullptr) return nullptr;
    if (type->element_count() == 1) continue;
    if (matrix != nullptr || !compatible_shapes(*type, *op.result()->tensor_type())) return nullptr;
    matrix = operand;
  }
  return matrix;
}

/// The value before any scaling by single numbers.
const Value& before_scaling(const Value& value) {
  const Value* at = &value;
  while (at->defining_op() != nullptr) {
    const Value* matrix = matrix_of(*at->defining_op());
    if (matrix == nullptr) break;
    at = matrix;
  }
  return *at;
}

/// True if the value is a matrix that an op of its own has transposed.
bool is_transposed(const Value& scaled) {
  const Value& value = before_scaling(scaled);
  const Op* op = value.defining_op();
  if (op == nullptr || value.tensor_type() == nullptr) return false;
  const auto rank = static_cast<std::int64_t>(value.tensor_type()->rank());
  const auto axis = [&](const Attr* attribute) {
    if (attribute == nullptr || attribute->kind() != AttrKind::kInt) return rank;
    return attribute->integer() < 0 ? attribute->integer() + rank : attribute->integer();
  };
  if (op->is(OpId::kLinalgTranspose)) {
    const auto [first, second] =
        std::minmax({axis(op->attribute(key::kDim0)), axis(op->attribute(key::kDim1))});
    return first == rank - 2 && second == rank - 1;
  }
  const Attr* axes = op->is(OpId::kLinalgPermute) ? op->attribute(key::kAxis) : nullptr;
  return axes != nullptr && axes->kind() == AttrKind::kArray && rank >= 2 &&
         axes->elements().size() == static_cast<std::size_t>(rank) &&
         axis(axes->elements()[axes->elements().size() - 2]) == rank - 1 &&
         axis(axes->elements().back()) == rank - 2;
}

/// How a product reads its operands: as they are, or with their last two dimensions exchanged.
struct ProductReading {
  bool transpose_a = false, transpose_b = false;

  bool operator==(const ProductReading&) const = default;
};

/// True if the printed extents are those of this reading. Rows of operand 0 may be cut if it is
/// read as it is.
bool fits(ProductReading reading, std::span<const Dim> a, std::span<const Dim> b,
          std::span<const Dim> c) {
  const auto last = [](std::span<const Dim> dims, bool first) {
    return dims[dims.size() - (first ? 2 : 1)];
  };
  const bool rows_fit = !reading.transpose_a || last(a, false) == last(c, true);
  return rows_fit && last(a, reading.transpose_a) == last(b, !reading.transpose_b) &&
         last(b, reading.transpose_b) == last(c, false);
}

std::string text_of(ProductReading reading) {
  return fmt::format("transpose_a={}, transpose_b={}", reading.transpose_a, reading.transpose_b);
}

}  // namespace

void mat_mul(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  const auto a = op.operand(0)->tensor_type()->dims(), b = op.operand(1)->tensor_type()->dims(),
             c = op.result()->tensor_type()->dims();
  if (a.size() < 2 || b.size() < 2 || c.size() < 2)
    return recovery.refuse_grantable(op, key::kTransposeB, "rank below 2");
  // Upstream's models leave operand 0 as it is; scores are made with keys that are transposed once,
  // by the product or before it.
  const bool turns = feeds_softmax(op) && !is_transposed(*op.operand(1));
  std::vector<ProductReading> readings = {
      {false, turns}, {false, !turns}, {true, turns}, {true, !turns}};
  std::erase_if(readings, [&](ProductReading reading) { return !fits(reading, a, b, c); });
  if (readings.empty()) {
    return recovery.refuse_grantable(op, key::kTransposeB, "the printed types fit no reading");
  }
  const ProductReading chosen = readings.front();
  std::string others;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    others += (others.empty() ? "" : " or ") + text_of(readings[i]);
  }
  // Where a slice was cut to what the product needs, one of its readings was chosen.
  const bool certain = others.empty() && !recovery.is_chosen(*op.operand(1));
  const auto give = [&](std::string_view fact, bool value) {
    if (certain) return recovery.derive(op, fact, context.boolean(value));
    recovery.choose(op, fact, context.boolean(value), others);
  };
  if (chosen.transpose_a) give(key::kTransposeA, true);
  give(key::kTransposeB, chosen.transpose_b);
}

}  // namespace mir
