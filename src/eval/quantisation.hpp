// Numbers that the codes of quantised values represent. The formulas are in
// docs/ops/quantisation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "dialects/quantisation.hpp"
#include "kernels/ref/quantise.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"

namespace mir {

/// Quantisations with their scales. Elements of values and parameters that are not here are
/// numbers, not codes.
struct QuantisationTable {
  std::unordered_map<const Value*, ref::Quantisation> values;
  std::unordered_map<Symbol, ref::Quantisation> parameters;
};

/// Quantisation of a value as a text states it, without scales and zero points.
struct QuantRecipe {
  ref::Quantisation codes;        ///< without scales and zero points
  bool is_asymmetric = false;     ///< zero points must be stated
  std::int64_t default_zero = 0;  ///< of a symmetric one
  bool has_two_levels = false;    ///< LPBQ: a scale is that of the block times that of the channel
  std::optional<std::int64_t> uuid;
};

/// The recipe of a value of `type` whose QuantSpec is `spec` (null: none): that of the spec, else
/// of the type's encoding, else what a per-tensor element type alone says. None for a value
/// whose elements are what they are: of kind None or Raw, or of a type of real numbers that a later
/// lowering quantises. A spec that lacks a field, and a per-channel type without one, are errors.
Result<std::optional<QuantRecipe>> quant_recipe(const TensorType& type, const Attr* spec);

}  // namespace mir
