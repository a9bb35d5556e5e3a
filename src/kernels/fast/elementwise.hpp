// Elementwise kernels on Float32 elements, contiguous ones unless they broadcast.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast {

enum class Binary : std::uint8_t { kAdd, kSub, kMul, kDiv, kRem, kMaximum, kMinimum };

constexpr std::string_view name_of(Binary op) {
  switch (op) {
    case Binary::kAdd:
      return "add";
    case Binary::kSub:
      return "sub";
    case Binary::kMul:
      return "mul";
    case Binary::kDiv:
      return "div";
    case Binary::kRem:
      return "rem";
    case Binary::kMaximum:
      return "maximum";
    case Binary::kMinimum:
      return "minimum";
  }
  return {};
}

/// out = a op b on Float32 that broadcasts, the bits of ref. out may be an operand that has its
/// extents.
void binary(Binary op, const BroadcastOperand& a, const BroadcastOperand& b,
            const BroadcastResult& out, Context& context);

enum class Unary : std::uint8_t {
  kAbs,
  kNeg,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kSqrt,
  kRsqrt,
  kRelu,
  kExp,
  kLog,
  kSin,
  kCos,
  kTanh,
  kErf,
  kSigmoid,
  kSilu,
  kGelu,
  kQuickGelu,
};

/// Returns the name of a function in kernel names, tests and measurements.
constexpr std::string_view name_of(Unary function) {
  switch (function) {
    case Unary::kAbs:
      return "abs";
    case Unary::kNeg:
      return "neg";
    case Unary::kSign:
      return "sign";
    case Unary::kFloor:
      return "floor";
    case Unary::kCeil:
      return "ceil";
    case Unary::kRound:
      return "round";
    case Unary::kTrunc:
      return "trunc";
    case Unary::kSqrt:
      return "sqrt";
    case Unary::kRsqrt:
      return "rsqrt";
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
    case Unary::kTanh:
      return "tanh";
    case Unary::kErf:
      return "erf";
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
inline constexpr double kRsqrtUlp = 1.5;      ///< a square root and a quotient, each rounded
inline constexpr double kTanhUlp = 2.75;      ///< measured: 2.53
inline constexpr double kErfUlp = 1.5;        ///< measured: 0.98, without fused multiply-adds 1.23
inline constexpr double kUnaryUlp = 3.5;
inline constexpr double kSigmoidExponentUlp = 0.1;  ///< silu too
inline constexpr double kGeluExponentUlp = 3;
inline constexpr double kQuickGeluExponentUlp = 1;

/// out[i] = f(x[i]), i < count; the functions of ref/unary.hpp. abs, neg, relu, sign, floor, ceil,
/// round and trunc are exact, sqrt is correctly rounded, exp is within kExpUlp, log within kLogUlp,
/// sin and cos within kCircularUlp, rsqrt within kRsqrtUlp, tanh within kTanhUlp, erf within
/// kErfUlp, the others within kUnaryUlp and what v adds. Infinities, results that underflow and NaN
/// as in ref; subnormal results are rounded, not flushed. May run in place.
void unary(Unary function, const float* x, float* out, std::int64_t count, Context& context);

/// out[i] = min(max(x[i], low), high), high where low is above it; a NaN stays one, and as a bound
/// is none. Exact. May run in place.
void clip(const float* x, float low, float high, float* out, std::int64_t count, Context& context);

}  // namespace mir::fast
