// Elementwise kernels of one instruction set, in the calling thread.
#pragma once

#include <cstdint>

#include "kernels/fast/elementwise.hpp"
#include "kernels/isa.hpp"

namespace mir::fast {

/// The result may lie where an operand lies whose elements are 1 apart.
struct ElementwiseTable {
  /// Elements of an operand are its step apart, 0 or 1.
  void (*binary)(Binary op, const float* a, std::int64_t a_step, const float* b,
                 std::int64_t b_step, float* out, std::int64_t count);
  void (*unary)(Unary function, const float* x, float* out, std::int64_t count);
  void (*clip)(const float* x, float low, float high, float* out, std::int64_t count);
};

const ElementwiseTable& elementwise_table(IsaLevel isa);

}  // namespace mir::fast
