// Arithmetic of doubles on strips: one function for each operation of regions that computes it.
#pragma once

#include <cstdint>

namespace mir {

/// Functions that compute out[i] from a[i * a_step] and b[i * b_step] for i below `count`. Steps
/// are 0 or 1. `out` is one of the operands or overlaps none. Every number has the bits that the
/// reference kernel of the operation gives for Float64, except those of a NaN.
struct StripArithmetic {
  using Function = void (*)(const double* a, std::int64_t a_step, const double* b,
                            std::int64_t b_step, double* out, std::int64_t count);
  Function add = nullptr;
  Function div = nullptr;
  Function max = nullptr;
  Function min = nullptr;
  Function mul = nullptr;
  Function neg = nullptr;  ///< -a; b is not read
  Function sub = nullptr;
};

}  // namespace mir
