// What the functions of elementwise.hpp are called in names of kernels, tests and measurements.
#pragma once

#include <string_view>

#include "kernels/fast/elementwise.hpp"

namespace mir::fast {

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

}  // namespace mir::fast
