// QuantSpecs of values, and values with the same quantisation. docs/ops/quantisation.md ranks the
// sources of scales.
#pragma once

#include <cstdint>
#include <string_view>

#include "mir/op.hpp"

namespace mir {

/// The QuantSpec that operand or result `i` of an op has: that of its mention, else of the value,
/// else of the op's annotation; null: none.
const Attr* operand_quant_spec(const Op& op, std::uint32_t i);
const Attr* result_quant_spec(const Op& op, std::uint32_t i);
/// The QuantSpec under `key` ("weight_weight") in the op's annotation; null: none.
const Attr* annotated_quant_spec(const Op& op, std::string_view key);

/// True if elements of this type are codes: those of quantised types, and of other types with a
/// QuantSpec that are not floating. A QuantSpec of a floating type changes nothing.
bool holds_codes(const TensorType& type, const Attr* spec);
/// Like the above, for a value as it is defined and as any op mentions it.
bool holds_codes(const Value& value);

/// True if result `i` and operand `j` of an op mean the same numbers when they have the same
/// elements: neither holds codes, or both have the same QuantSpec and take scales and zero points
/// from the same source. False if only the weights can tell.
bool have_same_quantisation(const Op& op, std::uint32_t operand, std::uint32_t result);

/// True if two values that hold codes and have equal attributes take scales and zero points from
/// the same source.
bool have_same_scales(const Value& a, const Value& b);

}  // namespace mir
