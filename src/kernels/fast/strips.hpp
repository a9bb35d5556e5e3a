// Strips of doubles: conversions from and to Float32, arithmetic, and sums of products.
#pragma once

#include <cstdint>

#include "kernels/isa.hpp"
#include "kernels/strip_arithmetic.hpp"

namespace mir::fast {

/// Adds x[c * x_column + t * x_term] * y[c * y_column + t * y_term] to sums[c] for each column c,
/// for t = 0, 1, .. `terms` - 1 in this order. Without y, adds the elements of x.
struct ProductStrip {
  const float* x = nullptr;
  std::int64_t x_column = 0, x_term = 0;
  const float* y = nullptr;  ///< Null if there is no second operand.
  std::int64_t y_column = 0, y_term = 0;
  double* sums = nullptr;
  std::int64_t columns = 0, terms = 0;
};

/// Every number has the bits of a loop over scalars: a product of two Float32 is exact in a double,
/// so adding it rounds once, with or without FMA. Bits of NaNs may differ.
struct StripKernels {
  StripArithmetic arithmetic;
  /// out[i] = in[i * step].
  void (*widen)(const float* in, std::int64_t step, double* out, std::int64_t count) = nullptr;
  /// out[i * out_step] = in[i * in_step], rounded once; a NaN is stored as the positive quiet one.
  void (*narrow)(const double* in, std::int64_t in_step, float* out, std::int64_t out_step,
                 std::int64_t count) = nullptr;
  void (*add_products)(const ProductStrip& strip) = nullptr;
};

const StripKernels& strip_kernels(IsaLevel isa);

}  // namespace mir::fast
