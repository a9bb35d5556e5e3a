// Values of tensors on which two programs are compared, and the comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mir/rewrite_patterns.hpp"
#include "mir/tensor.hpp"
#include "validate/draw.hpp"

namespace mir::validate {

/// The magnitude of finite inputs where a claim states none.
inline constexpr double kUsualLargest = 1000;

/// Distribution of drawn values.
enum class ValueStyle : std::uint8_t {
  /// All bit patterns; often zeros, infinities, NaN, extremes, subnormals, neighbours of halfway
  /// points of narrower types and of the ends of integer types.
  kSpecial,
  kSmall,     ///< integers from -4 to 4, without a sign from 0 to 4
  kFinite,    ///< finite, of magnitude `largest` at most
  kIntegers,  ///< integers of magnitude 1024 at most, for exact arithmetic in Float64
};

/// A tensor of such values; no value if its type cannot be drawn or memory is short.
std::optional<Tensor> draw_tensor(DType dtype, const Shape& shape, ValueStyle style, double largest,
                                  Draw& draw);
/// All values of an element type of at most 16 bits, in one dimension; no value for others.
std::optional<Tensor> all_values(DType dtype);

/// A copy with this number, whose imaginary part is 0, as one element. No value if the type cannot
/// hold it, or memory is short.
std::optional<Tensor> with_element(const Tensor& tensor, std::int64_t i, double value);
/// "0.5"; both parts of a complex number.
std::string element_text(const Tensor& tensor, std::int64_t i);

/// Gives about half of the elements the values of other inputs of the same type, by position along
/// the last axes. So operands meet that are equal, infinities and zeros included.
void repeat_elements(Tensor& to, const Tensor& from, Draw& draw);

struct Difference {
  std::size_t result = 0;
  std::int64_t element = 0;
  std::string text{};  ///< "result 0, element 3: 1 before, 2 after"
};
/// The first element that differs by more than a claim allows. No value if none does.
std::optional<Difference> difference(std::span<const Tensor> before, std::span<const Tensor> after,
                                     const RewriteClaim& claim);
/// The number of elements that a claim speaks of: all, but under a bound only finite ones.
std::uint64_t compared_elements(std::span<const Tensor> before, const RewriteClaim& claim);

}  // namespace mir::validate
