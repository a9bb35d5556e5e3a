// How far a tensor is from the expected one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/support/result.hpp"
#include "mir/support/tensor.hpp"

namespace mir {

/// An element is within tolerance when |actual - expected| <= abs + rel * |expected|. Two NaN are
/// equal, two infinities of one sign too; any other pair with a NaN or an infinity is not.
struct Tolerance {
  double abs = 0;
  double rel = 0;
};

struct ElementDifference {
  std::int64_t index = 0;  ///< row-major; for complex types real and imaginary parts alternate
  double expected = 0;
  double actual = 0;
  double abs_error = 0;
};

struct Comparison {
  static constexpr std::size_t kWorst = 5;

  Shape shape;  ///< complex types have a last axis of 2
  Tolerance tolerance;
  std::int64_t elements = 0;
  std::int64_t over_tolerance = 0;  ///< includes the next two
  std::int64_t nan_mismatches = 0;
  double max_abs_error = 0;
  std::int64_t max_abs_index = 0;
  double max_rel_error = 0;  ///< |actual - expected| / |expected| where expected is not 0
  std::int64_t max_rel_index = 0;
  double cosine = 1;  ///< of the elements that are finite on both sides; 1 when both are all zero
  std::vector<ElementDifference>
      worst;  ///< differing elements farthest over tolerance, at most kWorst

  bool passed() const { return over_tolerance == 0; }
};

/// Both must have the same shape and real or complex elements; element types may differ.
/// 64-bit integers are subtracted exactly.
Result<Comparison> compare_tensors(const Tensor& expected, const Tensor& actual,
                                   const Tolerance& tolerance);

/// Several lines without a final newline: a verdict, the error figures, the worst elements.
std::string render(const Comparison& comparison);

}  // namespace mir
