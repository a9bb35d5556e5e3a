// Vectorised strips of doubles: conversions, arithmetic and sums of products in the order of terms.
#include "kernels/fast/strips.hpp"

#include <limits>
#include <type_traits>

#include "kernels/fast/targets.hpp"
#include "kernels/ref/common/extreme.hpp"
#include "kernels/ref/numeric.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/strips.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
static_assert(!HWY_HAVE_SCALABLE, "vectors need a size at compile time");
using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;
using Singles = hn::Rebind<float, Doubles>;
inline constexpr std::int64_t kDoubles = hn::MaxLanes(Doubles());

// -- arithmetic -----------------------------------------------------------------------------------

struct Plus {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector b) const { return hn::Add(a, b); }
  double operator()(double a, double b) const { return a + b; }
};
struct Minus {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector b) const { return hn::Sub(a, b); }
  double operator()(double a, double b) const { return a - b; }
};
struct Times {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector b) const { return hn::Mul(a, b); }
  double operator()(double a, double b) const { return a * b; }
};
struct Over {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector b) const { return hn::Div(a, b); }
  double operator()(double a, double b) const { return a / b; }
};
struct Opposite {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector) const { return hn::Neg(a); }
  double operator()(double a, double) const { return -a; }
};

/// See ref::extreme_of: of equal ones the first, but for zeros; a NaN wins.
template <int kSign>
struct Extreme {
  HWY_INLINE DoubleVector operator()(DoubleVector a, DoubleVector b) const {
    const auto is_better = kSign > 0 ? hn::Lt(a, b) : hn::Lt(b, a);
    const DoubleVector best = hn::IfThenElse(is_better, b, a);
    // Of two zeros, the signs decide; the bits of other equal numbers are the same.
    const DoubleVector joined = kSign > 0 ? hn::And(a, b) : hn::Or(a, b);
    const DoubleVector of_equal = hn::IfThenElse(hn::Eq(a, b), joined, best);
    return hn::IfThenElse(hn::IsNaN(b), b, hn::IfThenElse(hn::IsNaN(a), a, of_equal));
  }
  double operator()(double a, double b) const { return ref::extreme_of<kSign>(a, b); }
};

template <class Function>
void apply(const double* a, std::int64_t a_step, const double* b, std::int64_t b_step, double* out,
           std::int64_t count) {
  const Doubles d;
  constexpr Function kFunction{};
  std::int64_t i = 0;
  if (a_step == 1 && b_step == 1) {
    for (; i + kDoubles <= count; i += kDoubles) {
      hn::StoreU(kFunction(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    }
  } else if (a_step == 1) {
    const DoubleVector same = hn::Set(d, *b);
    for (; i + kDoubles <= count; i += kDoubles) {
      hn::StoreU(kFunction(hn::LoadU(d, a + i), same), d, out + i);
    }
  } else if (b_step == 1) {
    const DoubleVector same = hn::Set(d, *a);
    for (; i + kDoubles <= count; i += kDoubles) {
      hn::StoreU(kFunction(same, hn::LoadU(d, b + i)), d, out + i);
    }
  }
  for (; i < count; ++i) out[i] = kFunction(a[i * a_step], b[i * b_step]);
}

// -- conversions ----------------------------------------------------------------------------------

HWY_INLINE DoubleVector load_doubles(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Singles(), from));
}

void widen(const float* in, std::int64_t step, double* out, std::int64_t count) {
  std::int64_t i = 0;
  if (step == 1) {
    for (; i + kDoubles <= count; i += kDoubles) {
      hn::StoreU(load_doubles(in + i), Doubles(), out + i);
    }
  } else if (step == 0) {
    const DoubleVector same = hn::Set(Doubles(), static_cast<double>(*in));
    for (; i + kDoubles <= count; i += kDoubles) hn::StoreU(same, Doubles(), out + i);
  } else if (step == 2) {
    // One more element than those of the strip is read, so the last vector is left out.
    for (; i + kDoubles < count; i += kDoubles) {
      hn::Vec<Singles> even, odd;
      hn::LoadInterleaved2(Singles(), in + 2 * i, even, odd);
      hn::StoreU(hn::PromoteTo(Doubles(), even), Doubles(), out + i);
    }
  } else if (step == -1) {
    for (; i + kDoubles <= count; i += kDoubles) {
      const auto turned = hn::Reverse(Singles(), hn::LoadU(Singles(), in - i - (kDoubles - 1)));
      hn::StoreU(hn::PromoteTo(Doubles(), turned), Doubles(), out + i);
    }
  }
  for (; i < count; ++i) out[i] = in[i * step];
}

void narrow(const double* in, std::int64_t in_step, float* out, std::int64_t out_step,
            std::int64_t count) {
  std::int64_t i = 0;
  // Where there are no vectors, Highway turns what exceeds Float32 into the largest number.
  constexpr bool kHasVectors = HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR;
  if (kHasVectors && in_step == 1 && out_step == 1) {
    const Singles d;
    const auto quiet = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    for (; i + kDoubles <= count; i += kDoubles) {
      const auto rounded = hn::DemoteTo(d, hn::LoadU(Doubles(), in + i));
      hn::StoreU(hn::IfThenElse(hn::IsNaN(rounded), quiet, rounded), d, out + i);
    }
  }
  for (; i < count; ++i) out[i * out_step] = ref::narrow_to_float(in[i * in_step]);
}

// -- sums of products -----------------------------------------------------------------------------

/// How the elements of an operand lie for the columns of a vector.
struct Same {
  HWY_INLINE DoubleVector operator()(const float* at, std::int64_t, std::int64_t) const {
    return hn::Set(Doubles(), static_cast<double>(*at));
  }
};
struct Adjacent {
  HWY_INLINE DoubleVector operator()(const float* at, std::int64_t, std::int64_t column) const {
    return load_doubles(at + column);
  }
};
struct Apart {
  HWY_INLINE DoubleVector operator()(const float* at, std::int64_t step,
                                     std::int64_t column) const {
    HWY_ALIGN double each[kDoubles];
    for (std::int64_t i = 0; i < kDoubles; ++i) each[i] = at[(column + i) * step];
    return hn::Load(Doubles(), each);
  }
};
/// No operand: the product is the other one.
struct None {};

template <class X, class Y>
HWY_INLINE DoubleVector add_term(DoubleVector sum, DoubleVector x, const float* y,
                                 std::int64_t y_column, std::int64_t column) {
  if constexpr (std::is_same_v<Y, None>) {
    return hn::Add(sum, x);
  } else {
    return hn::MulAdd(x, Y()(y, y_column, column), sum);
  }
}

/// Columns from `first` on, kVectors vectors at once as long as there are so many.
template <class X, class Y, int kVectors>
HWY_INLINE std::int64_t add_block(const ProductStrip& s, std::int64_t first) {
  const Doubles d;
  for (; first + kVectors * kDoubles <= s.columns; first += kVectors * kDoubles) {
    DoubleVector sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::LoadU(d, s.sums + first + v * kDoubles);
    for (std::int64_t t = 0; t < s.terms; ++t) {
      const float* const x = s.x + t * s.x_term;
      const float* const y = std::is_same_v<Y, None> ? nullptr : s.y + t * s.y_term;
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t column = first + v * kDoubles;
        sums[v] = add_term<X, Y>(sums[v], X()(x, s.x_column, column), y, s.y_column, column);
      }
    }
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, s.sums + first + v * kDoubles);
  }
  return first;
}

template <class X, class Y>
void add_columns(const ProductStrip& s) {
  // Rows that lie far apart compete for the same places of a cache: few at once.
  constexpr bool kFar = std::is_same_v<X, Apart> || std::is_same_v<Y, Apart>;
  std::int64_t column = 0;
  if constexpr (!kFar) column = add_block<X, Y, 4>(s, column);
  column = add_block<X, Y, 2>(s, column);
  column = add_block<X, Y, 1>(s, column);
  for (; column < s.columns; ++column) {
    double sum = s.sums[column];
    for (std::int64_t t = 0; t < s.terms; ++t) {
      const double x = s.x[column * s.x_column + t * s.x_term];
      if constexpr (std::is_same_v<Y, None>) {
        sum += x;
      } else {
        sum += x * s.y[column * s.y_column + t * s.y_term];
      }
    }
    s.sums[column] = sum;
  }
}

template <class X>
void add_columns_of(const ProductStrip& s) {
  if (s.y == nullptr) return add_columns<X, None>(s);
  if (s.y_column == 0) return add_columns<X, Same>(s);
  if (s.y_column == 1) return add_columns<X, Adjacent>(s);
  return add_columns<X, Apart>(s);
}

void add_products(const ProductStrip& s) {
  if (s.x_column == 0) return add_columns_of<Same>(s);
  if (s.x_column == 1) return add_columns_of<Adjacent>(s);
  return add_columns_of<Apart>(s);
}

constexpr StripKernels kTable = {
    .arithmetic = {.add = apply<Plus>,
                   .div = apply<Over>,
                   .max = apply<Extreme<1>>,
                   .min = apply<Extreme<-1>>,
                   .mul = apply<Times>,
                   .neg = apply<Opposite>,
                   .sub = apply<Minus>},
    .widen = widen,
    .narrow = narrow,
    .add_products = add_products,
};

}  // namespace
}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {
MIR_FAST_TABLES(StripKernels);
}  // namespace

const StripKernels& strip_kernels(IsaLevel isa) {
  return tables.at(isa);
}

}  // namespace mir::fast

#endif  // HWY_ONCE
