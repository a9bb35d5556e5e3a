// Tensors of any type as real numbers, and figures about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Returns a tensor with one real number per element: blocks dequantised, everything else as it is.
/// No value for types without such a reading: packed bytes, complex numbers, other blocks,
/// interleaved ones of rank 1.
Result<std::optional<Tensor>> as_reals(const Tensor& tensor);

/// Statistics of the elements of a tensor. NaN and infinities are counted and left out of the rest.
struct Statistics {
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t zeros = 0;
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double deviation = 0;  ///< root of the mean squared distance from the mean
};
Statistics statistics(const Tensor& reals);

/// Errors of `changed` against `original`, both as reals of the same extents.
struct Accuracy {
  double max_error = 0;
  double rms_error = 0;
  double relative =
      0;  ///< RMS error over the RMS of the original; 0 when both are 0, NaN beyond Float64
};
Accuracy accuracy(const Tensor& original, const Tensor& changed);

}  // namespace mir
