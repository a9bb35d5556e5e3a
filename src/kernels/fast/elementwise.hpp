// Elementwise kernels on Float32 elements, contiguous ones unless they broadcast.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast {

enum class Binary : std::uint8_t { kAdd, kSub, kMul, kDiv };

/// out = a op b on Float32 that broadcasts, correctly rounded, as ref. out may be an operand that
/// has its extents.
void binary(Binary op, const BroadcastOperand& a, const BroadcastOperand& b,
            const BroadcastResult& out, Context& context);

enum class Unary : std::uint8_t {
  kAbs,
  kNeg,
  kRelu,
  kExp,
  kLog,
  kSin,
  kCos,
  kSigmoid,
  kSilu,
  kGelu,
  kQuickGelu,
};

/// What a function is called in names of kernels, tests and measurements.
constexpr std::string_view name_of(Unary function) {
  switch (function) {
    case Unary::kAbs:
      return "abs";
    case Unary::kNeg:
      return "neg";
    case Unary::kRelu:
      return "relu";
    case Unary::kExp:
      return "exp";
    case Unary::kLog:
      return "log";
    case Unary::kSin:
      return "sin";
    case Unary::kCos:
      return "cos";
    case Unary::kSigmoid:
      return "sigmoid";
    case Unary::kSilu:
      return "silu";
    case Unary::kGelu:
      return "gelu";
    case Unary::kQuickGelu:
      return "quick_gelu";
  }
  return {};
}

/// Bounds of the functions, in units in the last place of the exact result. Measured over all of
/// Float32 in steps of 61 (AVX2): exp 1.14 and, for x >= 0, sigmoid 2.48, silu 2.34, gelu 2.31,
/// quick_gelu 2.36; portable code is closer, exp 0.97, the others 1.55. For x < 0 these take e to
/// an exponent v, whose own error counts |v| times: `k..ExponentUlp` for each unit of |v|; what is
/// beyond kUnaryUlp was measured as 0.025 for sigmoid and silu, 2.63 for gelu, 0.98 for quick_gelu.
inline constexpr double kExpUlp = 1.25;
inline constexpr double kLogUlp = 1;
inline constexpr double kCircularUlp = 0.51;  ///< sin and cos
inline constexpr double kUnaryUlp = 3.5;
inline constexpr double kSigmoidExponentUlp = 0.1;  ///< silu too
inline constexpr double kGeluExponentUlp = 3;
inline constexpr double kQuickGeluExponentUlp = 1;

/// out[i] = f(x[i]), i < count; the functions of ref/unary.hpp. abs, neg and relu are exact, exp is
/// within kExpUlp, log within kLogUlp, sin and cos within kCircularUlp, the others within kUnaryUlp
/// and what v adds. Infinities, results that underflow and NaN as in ref; subnormal results are
/// rounded, not flushed. May run in place.
void unary(Unary function, const float* x, float* out, std::int64_t count, Context& context);

/// out[i] = min(max(x[i], low), high), high where low is above it; a NaN stays one, and as a bound
/// is none. Exact. May run in place.
void clip(const float* x, float low, float high, float* out, std::int64_t count, Context& context);

}  // namespace mir::fast
