// Single elements of tensors as numbers, and conversions between float types.
//
// note [numbers as elements]
// The number of an attribute, a constant, a list on a command line is a text. These functions tell
// which element of a type it is, to the bit: integers are exact in every spelling, zeros keep their
// sign, other numbers are rounded to double and then to the type. encode_element() refuses what the
// type cannot hold, as constants and inputs do. element_of() takes the nearest element, as the
// pages of Clip, Fill and Pad say. Nothing else converts the number of an attribute to an element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "mir/weights.hpp"

namespace mir {

/// IEEE binary16 and bfloat16. Decoding is exact. Encoding rounds once, to nearest even, from the
/// double; what is too large becomes an infinity, a NaN stays a quiet NaN with its sign and the
/// upper bits of its payload.
double f16_to_double(std::uint16_t bits);
double bf16_to_double(std::uint16_t bits);
std::uint16_t f16_from_double(double value);
std::uint16_t bf16_from_double(double value);

/// OCP FP8. E5M2 is the upper half of a binary16 and rounds in the same way. E4M3 has no infinity:
/// what is beyond 448 becomes 448 with its sign, and its only NaN has all bits after the sign set.
double f8_e4m3_to_double(std::uint8_t bits);
double f8_e5m2_to_double(std::uint8_t bits);
std::uint8_t f8_e4m3_from_double(double value);
std::uint8_t f8_e5m2_from_double(double value);

/// True for Float16, BFloat16, Float32, Float64, Float8E4M3 and Float8E5M2.
bool is_float(DType dtype);
/// True for the types whose elements are one integer or one Bool, in 1 to 8 bytes.
bool is_integer(DType dtype);
/// True for the types whose elements are one real number: the two groups above.
inline bool is_real(DType dtype) {
  return is_float(dtype) || is_integer(dtype);
}

/// Element `index` of a tensor whose storage type is real, rounded to double (64-bit integers
/// only).
double element_as_double(const Tensor& tensor, std::int64_t index);
/// As many as `values` has room for, from `first` on; all must exist.
void elements_as_doubles(const Tensor& tensor, std::int64_t first, std::span<double> values);

/// Returns the element as a number, exactly.
ElementNumber element_number(const Tensor& tensor, std::int64_t index);
/// Returns the shortest text that reads back as the same integer or double.
std::string text_of(const ElementNumber& number);
/// Returns the shortest text that reads back as the element, an integer or a double.
std::string text_of_element(const Tensor& tensor, std::int64_t index);
/// True if element `a` of a tensor is ranked before element `b`: larger ones first, equal ones by
/// index, NaNs last.
bool is_ranked_before(const Tensor& tensor, std::int64_t a, std::int64_t b);

/// The bytes of one element, in the low bytes of the result. Floats are rounded to nearest even;
/// integers must be whole and in range, a Bool 0 or 1. `dtype` must have a real storage type.
Result<std::uint64_t> encode_element(DType dtype, double value);
/// Encodes an element from text: decimal or scientific numbers, `nan`, `inf` and `-inf` for floats
/// (the text is rounded to double first), whole numbers, `true` and `false`. Integers are exact in
/// every spelling.
Result<std::uint64_t> encode_element(DType dtype, std::string_view text);

/// Returns a tensor without dimensions that holds the number which `text` spells, converted as
/// CastType converts a number: what is beyond a float type is an infinity (in Float8E4M3 448); an
/// integer is rounded toward zero and to the nearest end of its range, NaN is 0; Bool is whether
/// the number is not zero. Zero is an element of every type with one element in each storage unit.
/// An error if the type has no other numbers.
Result<Tensor> element_of(DType dtype, std::string_view text);

/// Float tensor in another type.
struct ConvertedFloats {
  Tensor tensor;
  std::int64_t overflows = 0;       ///< finite elements beyond the largest number of the type
  std::int64_t first_overflow = 0;  ///< the index of the first of them
};

/// Converts element by element between float types: exact when widening, one rounding to nearest
/// even when narrowing. What is beyond the largest number of the type becomes an infinity, in
/// Float8E4M3 448. `tensor` itself if it has type `to`.
Result<ConvertedFloats> convert_floats_with_overflow(const Tensor& tensor, DType to);
/// "3 of 64 elements are beyond the largest Float16, the first is 70000 at element 0", where
/// `converted` has overflows and was made of `tensor`.
std::string overflow_text(const ConvertedFloats& converted, const Tensor& tensor);
/// Like convert_floats_with_overflow(), but an element beyond the largest number of the type is an
/// error that counts such elements.
Result<Tensor> convert_floats(const Tensor& tensor, DType to);

}  // namespace mir
