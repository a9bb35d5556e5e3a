// Finds the QuantSpecs of operands and results, and compares quantisations of values.
#include "dialects/quantisation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/quant_attributes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

const Attr* spec_in(std::span<const NamedAttr> attributes, Symbol key = key::kQuantRecipe) {
  const Attr* found = find_attribute(attributes, key);
  return found != nullptr && found->kind() == AttrKind::kQuantSpec ? found : nullptr;
}

/// Null: the op has none.
const Attr* annotation_of(const Op& op) {
  const Attr* annotation = op.attribute(key::kQuantRecipe);
  return annotation != nullptr && annotation->kind() == AttrKind::kQuantAnnotation ? annotation
                                                                                   : nullptr;
}

/// The QuantSpec of operand or result `i` ("inputs", "outputs") in the annotation.
const Attr* annotated_spec(const Op& op, std::string_view list, std::uint32_t i) {
  if (annotation_of(op) == nullptr) return nullptr;
  return annotated_quant_spec(op, fmt::format("{}_{}", list, i));
}

/// True if both values take scales and zero points from one source in the text.
bool have_same_scales(const Value& a, const Value& b, const Attr* spec) {
  const auto agree = [&](Symbol key) { return a.attribute(key) == b.attribute(key); };
  if (!agree(key::kQuantScale) || !agree(key::kQuantZeroPoint)) return false;
  if (a.attribute(key::kQuantScale) != nullptr) return true;
  // Parameters have scales by their names.
  if (a.has_symbol() || b.has_symbol() || !agree(key::kQuantSource)) return false;
  return a.attribute(key::kQuantSource) != nullptr ||
         (spec != nullptr && read_quant_spec(*spec).uuid.has_value());
}

}  // namespace

const Attr* annotated_quant_spec(const Op& op, std::string_view key) {
  const Attr* annotation = annotation_of(op);
  if (annotation == nullptr) return nullptr;
  return spec_in(annotation->entries(), op.module().context().intern(key));
}

const Attr* operand_quant_spec(const Op& op, std::uint32_t i) {
  const Use& use = op.operand_uses()[i];
  if (const StatedMention* mention = stated_mention(use)) {
    if (const Attr* spec = spec_in(mention->attributes)) return spec;
  }
  if (const Attr* spec = spec_in(use.value()->attributes())) return spec;
  return annotated_spec(op, "inputs", i);
}

const Attr* result_quant_spec(const Op& op, std::uint32_t i) {
  if (const Attr* spec = spec_in(op.result(i)->attributes())) return spec;
  return annotated_spec(op, "outputs", i);
}

bool holds_codes(const TensorType& type, const Attr* spec) {
  if (!type.dtype()) return spec != nullptr;
  const DTypeClass kind = info(*type.dtype()).type_class;
  return kind == DTypeClass::kQuantised || (spec != nullptr && kind != DTypeClass::kFloat);
}

bool holds_codes(const Value& value) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr || holds_codes(*type, nullptr)) return type != nullptr;
  if (type->dtype() && info(*type->dtype()).type_class == DTypeClass::kFloat) return false;
  const Op* op = value.defining_op();
  if (op != nullptr && holds_codes(*type, result_quant_spec(*op, value.index()))) return true;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    if (holds_codes(*type, operand_quant_spec(*use->user(), use->index()))) return true;
  }
  return false;
}

bool have_same_quantisation(const Op& op, std::uint32_t operand, std::uint32_t result) {
  const Value &from = *op.operand(operand), &to = *op.result(result);
  const TensorType *from_type = from.tensor_type(), *to_type = to.tensor_type();
  if (from_type == nullptr || to_type == nullptr) return from_type == to_type;
  const Attr* from_spec = operand_quant_spec(op, operand);
  const Attr* to_spec = result_quant_spec(op, result);
  const bool has_codes = holds_codes(*from_type, from_spec);
  if (has_codes != holds_codes(*to_type, to_spec)) return false;
  if (!has_codes) return true;
  return from_spec == to_spec && from_type->dtype() == to_type->dtype() &&
         from_type->encoding() == to_type->encoding() && have_same_scales(from, to, from_spec);
}

bool have_same_scales(const Value& a, const Value& b) {
  const Op* op = a.defining_op();
  const Attr* spec = op == nullptr ? spec_in(a.attributes()) : result_quant_spec(*op, a.index());
  return have_same_scales(a, b, spec);
}

}  // namespace mir
