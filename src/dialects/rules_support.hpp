// What the shape and dtype rules share: reading operands and attributes, relating extents.
//
// Functions that report give false or none afterwards; the caller only has to stop.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/rules.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"

namespace mir::rules {

using Shape = std::vector<Dim>;

inline constexpr Dim kZero;

/// "All dimensions" in reductions, as dumps write it.
inline constexpr std::int64_t kAllDimensions = 2147483647;

// -- text -----------------------------------------------------------------------------------------
std::string show(InferContext& op, Dim extent);
std::string show(InferContext& op, std::span<const Dim> extents);
/// Reports "'LinearOp' takes <expected>, found <found>".
bool mismatch(InferContext& op, DiagCode code, std::string_view expected, std::string_view found);

// -- operands -------------------------------------------------------------------------------------
/// Extents with negative constants as unknown ones.
Shape shape_of(const TensorType& tensor);
/// The operand if it is a tensor whose rank is in [low, high].
const TensorType* ranked(InferContext& op, std::size_t index, std::size_t low, std::size_t high);
inline const TensorType* ranked(InferContext& op, std::size_t index, std::size_t rank) {
  return ranked(op, index, rank, rank);
}
inline constexpr std::size_t kAnyRank = static_cast<std::size_t>(-1);

// -- element types --------------------------------------------------------------------------------
enum class Elements : std::uint8_t { kFloating, kNumeric, kReal, kOrdered, kTruth, kBool, kIndex };
/// True if the operand's element type is one of the kind (see rules.hpp).
bool takes(InferContext& op, std::size_t index, const TensorType& operand, Elements kind);
/// True if operands `a` and `b` have equal element types, as far as they are known.
bool same_elements(InferContext& op, std::size_t a, std::size_t b);
bool is_complex(const TensorType& tensor);

// -- extents --------------------------------------------------------------------------------------
/// The extent that both are if they agree: the one that is known.
std::optional<Dim> unify(InferContext& op, Dim a, Dim b);
/// Right-aligned broadcast; reports.
std::optional<Shape> broadcast(InferContext& op, const Shape& a, const Shape& b);
/// True if `from` broadcasts to exactly `to`; reports with the operand's number.
bool broadcasts_to(InferContext& op, std::size_t index, const Shape& from, const Shape& to);
/// Reports unless extent `dim` of operand `index` agrees with `expected`, which `what` names.
bool expect_extent(InferContext& op, std::size_t index, const Shape& shape, std::size_t dim,
                   Dim expected, std::string_view what);
/// Reports unless an integer attribute, if present, agrees with the extent.
bool expect_attribute(InferContext& op, AttrKey key, std::size_t index, const Shape& shape,
                      std::size_t dim);
/// Reports unless operand `index` is [batch, tokens] of Int32 or Int64.
bool expect_positions(InferContext& op, std::size_t index, Dim batch, Dim tokens);
/// a / b if that is proved to leave no remainder.
std::optional<Dim> exact_quotient(InferContext& op, Dim a, Dim b);
/// Reports unless `count` heads or pieces divide `total`, or nothing is known of that.
bool expect_divisor(InferContext& op, std::string_view what, Dim total, Dim count);

// -- attributes -----------------------------------------------------------------------------------
/// The value, or `otherwise` where there is none; none after reporting a value of another kind.
std::optional<std::int64_t> integer_or(InferContext& op, AttrKey key, std::int64_t otherwise);
std::optional<bool> boolean_or(InferContext& op, AttrKey key, bool otherwise);
std::optional<std::string_view> string_or(InferContext& op, AttrKey key,
                                          std::string_view otherwise);
/// As above with a lower bound.
std::optional<std::int64_t> integer_at_least(InferContext& op, AttrKey key, std::int64_t low,
                                             std::int64_t otherwise);
/// Reports when there is no value.
std::optional<std::int64_t> required_integer(InferContext& op, AttrKey key);
bool missing(InferContext& op, AttrKey key);
/// Attribute `shape`, which states all extents of a result; reports.
std::optional<Shape> stated_shape(InferContext& op);
/// The attribute as an extent: an integer, an expression, or unknown where there is none.
std::optional<Dim> extent_or_unknown(InferContext& op, AttrKey key);
/// An extent as an array element or a dictionary value writes it; none for another kind.
std::optional<Dim> as_extent(const Attr& value);
/// Reports unless the word is one of the choices that the row has for the attribute. A row without
/// the attribute admits any word.
bool expect_choice(InferContext& op, AttrKey key, std::string_view found);
/// Reports unless the boolean is the only one that is supported.
bool expect_boolean(InferContext& op, AttrKey key, bool found, bool expected);
/// The axis at `key` (or `otherwise`), normalised; reports.
std::optional<std::size_t> axis_or(InferContext& op, AttrKey key, std::size_t rank,
                                   std::int64_t otherwise);
std::optional<std::size_t> required_axis(InferContext& op, AttrKey key, std::size_t rank);

// -- slices ---------------------------------------------------------------------------------------
/// Extent of the part of a dimension that one entry of `indices` names; reports.
std::optional<Dim> sliced_extent(InferContext& op, const Attr& entry, std::size_t dimension,
                                 Dim extent);
/// The extents of the part of a tensor that the attribute `indices` names; reports.
std::optional<Shape> sliced_shape(InferContext& op, const Shape& shape);

// -- results --------------------------------------------------------------------------------------
/// A result with the element type of the table row; device of `like`.
bool give(InferContext& op, const Shape& shape, DType dtype, const TensorType& like);
/// A result with the element type, device and encoding of `like`.
bool give(InferContext& op, Shape shape, const TensorType& like);

}  // namespace mir::rules
