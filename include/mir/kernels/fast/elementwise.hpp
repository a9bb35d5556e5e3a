// Elementwise kernels on contiguous Float32 elements.
#pragma once

#include <cstdint>

#include "mir/kernels/fast/context.hpp"

namespace mir::fast {

enum class Binary : std::uint8_t { kAdd, kSub, kMul, kDiv };

/// out[i] = a[i] op b[j], i < count: correctly rounded, as ref. The second operand repeats: j = i /
/// b_inner % b_count, so (b_inner, b_count) is (1, count) for equal shapes, (1, 1) for a scalar,
/// (1, width) for a row and (width, rows) for a column. out may be a, or b when b does not repeat.
struct BinaryOperands {
  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::int64_t count = 0;
  std::int64_t b_inner = 1;
  std::int64_t b_count = 1;
  bool swapped = false;  ///< b op a
};
void binary(Binary op, const BinaryOperands& operands, Context& context);

enum class Unary : std::uint8_t {
  kAbs,
  kNeg,
  kRelu,
  kExp,
  kSigmoid,
  kSilu,
  kGelu,
  kQuickGelu,
};

/// out[i] = f(x[i]), i < count; the functions of ref/unary.hpp. abs, neg and relu are exact; the
/// others within `kUnaryUlp` ULP plus the bound's conditioning as their op pages state. May run in
/// place.
void unary(Unary function, const float* x, float* out, std::int64_t count, Context& context);

/// out[i] = silu(gate[i]) up[i], each of the two steps rounded: the bits of unary and binary. May
/// run in place.
void silu_mul(const float* gate, const float* up, float* out, std::int64_t count, Context& context);

}  // namespace mir::fast
