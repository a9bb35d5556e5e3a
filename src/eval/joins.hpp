// Functions that join two numbers: sums, products, extremes and logic of loops.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dialects/generic_form.hpp"
#include "kernels/ref/common/extreme.hpp"

namespace mir::eval {

// Integers wrap: overflow is defined for unsigned ones.
struct JoinAdd {
  template <class W>
  W operator()(W a, W b) const {
    if constexpr (std::is_integral_v<W>) {
      return static_cast<W>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};
struct JoinMul {
  template <class W>
  W operator()(W a, W b) const {
    if constexpr (std::is_integral_v<W>) {
      return static_cast<W>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
struct JoinMax {
  template <class W>
  W operator()(W a, W b) const {
    return ref::extreme_of<1>(a, b);
  }
};
struct JoinMin {
  template <class W>
  W operator()(W a, W b) const {
    return ref::extreme_of<-1>(a, b);
  }
};
struct JoinAnd {
  template <class W>
  W operator()(W a, W b) const {
    return static_cast<W>(a != 0 && b != 0 ? 1 : 0);
  }
};
struct JoinOr {
  template <class W>
  W operator()(W a, W b) const {
    return static_cast<W>(a != 0 || b != 0 ? 1 : 0);
  }
};

/// Calls `visit` with the function of a sum.
template <class Visit>
void with_join(LoopSum sum, const Visit& visit) {
  switch (sum) {
    case LoopSum::kAdd:
      return visit(JoinAdd{});
    case LoopSum::kMul:
      return visit(JoinMul{});
    case LoopSum::kMax:
      return visit(JoinMax{});
    case LoopSum::kMin:
      return visit(JoinMin{});
    case LoopSum::kAnd:
      return visit(JoinAnd{});
    case LoopSum::kOr:
      return visit(JoinOr{});
  }
}

}  // namespace mir::eval
