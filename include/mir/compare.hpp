// How far a tensor is from the expected one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/result.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// What a tensor must fulfil; every part that is stated must hold.
///
/// An element is within tolerance when |actual - expected| <= abs + rel * |expected|, or when it
/// lies at most `ulp` units in the last place of the actual element type (of integers: 1) from the
/// expected number. Two NaN are equal, two infinities of one sign too; any other pair with a NaN or
/// an infinity is not.
struct Tolerance {
  double abs = 0;
  double rel = 0;
  double ulp = 0;
  /// The same bits instead; of different element types the same numbers with the same sign.
  bool exact = false;
  /// False: single elements may be anything, only the figures below count.
  bool judges_elements = true;
  std::optional<double> min_correlation = {};
  std::optional<double> min_cosine = {};
  std::size_t top = 0;  ///< how many of the largest of each last row are looked at; 0: one
  std::optional<double> min_top_agreement = {};
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
  std::int64_t differing = 0;       ///< elements with another value; -0 is +0, NaN is NaN
  std::int64_t over_tolerance = 0;  ///< 0 where elements are not judged
  std::int64_t nans_expected = 0;
  std::int64_t nans_found = 0;
  std::int64_t nan_mismatches = 0;  ///< NaN on one side only
  double max_abs_error = 0;
  std::int64_t max_abs_index = 0;
  double max_rel_error = 0;  ///< |actual - expected| / |expected| where expected is not 0
  std::int64_t max_rel_index = 0;
  double max_ulp_error = 0;
  std::int64_t max_ulp_index = 0;
  /// These two are of the elements that are finite on both sides.
  double cosine = 1;       ///< 1 when both are all zero, 0 when one is
  double correlation = 1;  ///< Pearson's; 1 when both are constant, 0 when one is
  /// Mean over the last rows of the share of the `top_count` largest elements of the expected row
  /// that are among those of the actual row, ranked as top_elements() does; 1 without rows.
  double top_agreement = 1;
  std::size_t top_count = 1;
  std::vector<ElementDifference>
      worst;  ///< differing elements farthest over tolerance, at most kWorst

  bool passed() const;
};

/// Both must have the same shape and real or complex elements; element types may differ.
/// 64-bit integers are subtracted exactly.
Result<Comparison> compare_tensors(const Tensor& expected, const Tensor& actual,
                                   const Tolerance& tolerance);

/// "abs 1e-06, rel 1e-05, correlation >= 0.99".
std::string render(const Tolerance& tolerance);
/// Several lines without a final newline: a verdict, the error figures, the worst elements.
std::string render(const Comparison& comparison);

}  // namespace mir
