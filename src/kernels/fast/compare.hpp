// Elementwise kernels whose results are truth values: comparisons and logic.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"
#include "mir/tensor.hpp"

namespace mir::fast {

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

constexpr std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "equal";
    case Comparison::kNotEqual:
      return "not_equal";
    case Comparison::kLess:
      return "less";
    case Comparison::kLessEqual:
      return "less_equal";
    case Comparison::kGreater:
      return "greater";
    case Comparison::kGreaterEqual:
      return "greater_equal";
  }
  return {};
}

/// True for the element types that compare() takes: Float32, Int32, Int64.
bool is_comparable(DType dtype);
/// out = a == b and so on as bytes 0 and 1. A NaN is neither equal to, below nor above anything; -0
/// equals +0.
void compare(Comparison comparison, DType dtype, const BroadcastOperand& a,
             const BroadcastOperand& b, const BroadcastResult& out, Context& context);

/// Not x is computed as x xor true.
enum class Logical : std::uint8_t { kAnd, kOr, kXor, kNot };

constexpr std::string_view name_of(Logical function) {
  switch (function) {
    case Logical::kAnd:
      return "and";
    case Logical::kOr:
      return "or";
    case Logical::kXor:
      return "xor";
    case Logical::kNot:
      return "not";
  }
  return {};
}

/// out = a and b and so on as bytes 0 and 1, of bytes that are true if they are not 0; kNot reads
/// only a. out may be an operand that has its extents.
void logical(Logical function, const BroadcastOperand& a, const BroadcastOperand& b,
             const BroadcastResult& out, Context& context);

}  // namespace mir::fast
