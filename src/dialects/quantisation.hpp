// What a text says of the quantisation of values. docs/ops/quantisation.md ranks its sources.
#pragma once

#include <cstdint>
#include <string_view>

#include "mir/op.hpp"

namespace mir {

/// The QuantSpec that operand or result `i` of an op has: that of its mention, else of the value,
/// else of the op's annotation; null: none.
const Attr* operand_quant_spec(const Op& op, std::uint32_t i);
const Attr* result_quant_spec(const Op& op, std::uint32_t i);
/// What the op's annotation says under `key` ("weight_weight"); null: nothing.
const Attr* annotated_quant_spec(const Op& op, std::string_view key);

/// Whether elements of the type stand for other numbers: quantised types, and types that are not
/// floating and have a QuantSpec. A QuantSpec of a floating type changes nothing.
bool holds_codes(const TensorType& type, const Attr* spec);

/// Whether result `i` of an op has the numbers of operand `j` if it has its elements: both hold
/// none but numbers, or codes whose QuantSpec and source of scales and zero points are the same.
/// False where only the weights tell.
bool have_same_quantisation(const Op& op, std::uint32_t operand, std::uint32_t result);

/// Whether the results of two equivalent ops have the same numbers if they have the same elements.
bool have_same_quantisation(const Op& a, const Op& b);

}  // namespace mir
