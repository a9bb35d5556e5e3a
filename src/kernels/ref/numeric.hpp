// Element types as C++ types, and the exact meaning of reading and storing one element.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace mir::ref {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// IEEE 754 binary16: 5 exponent bits, 10 fraction bits.
struct Half {
  std::uint16_t bits = 0;
};

/// The upper half of a binary32: 8 exponent bits, 7 fraction bits.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Sign, 4 exponent bits of bias 7, 3 fraction bits; no infinity, the largest number is 448, NaN
/// has all bits after the sign set (OCP FP8 E4M3, also called e4m3fn).
struct Float8E4M3 {
  std::uint8_t bits = 0;
};

/// The upper half of a binary16: 5 exponent bits, 2 fraction bits; the largest number is 57344 (OCP
/// FP8 E5M2).
struct Float8E5M2 {
  std::uint8_t bits = 0;
};

/// One byte, zero or not.
struct Bool {
  std::uint8_t bits = 0;
};

/// Exact, including subnormals and infinities; a NaN gives a NaN.
double widen(Half value);
double widen(BFloat16 value);
double widen(Float8E4M3 value);
double widen(Float8E5M2 value);

/// Nearest, ties to even, in one rounding: subnormals are produced, values beyond the largest
/// finite one by half a unit or more give an infinity, a NaN gives the quiet NaN without payload.
Half narrow_to_half(double value);
BFloat16 narrow_to_bfloat16(double value);
Float8E5M2 narrow_to_float8_e5m2(double value);
/// Like the above except beyond the largest number: such values, infinities included, become the
/// largest number with their sign.
Float8E4M3 narrow_to_float8_e4m3(double value);
inline float narrow_to_float(double value) {
  return value == value ? static_cast<float>(value) : std::numeric_limits<float>::quiet_NaN();
}

template <class T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
                                  std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsNarrow<T>;

/// The type that arithmetic on elements of type T is done in.
template <class T>
using Wide = std::conditional_t<
    kIsFloating<T>, double,
    std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// The element's value, exactly. Bool reads as 0 or 1.
template <class T>
Wide<T> load(T element) {
  if constexpr (kIsNarrow<T>) {
    return widen(element);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return element.bits != 0;
  } else {
    return element;
  }
}

/// The value as an element: floating types round as above, integers keep their low bits (two's
/// complement wrap-around), Bool is whether the value is not zero.
template <class T>
T store(Wide<T> value) {
  if constexpr (std::is_same_v<T, Half>) {
    return narrow_to_half(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return narrow_to_bfloat16(value);
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {
    return narrow_to_float8_e4m3(value);
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return narrow_to_float8_e5m2(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return narrow_to_float(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return value == value ? value : std::numeric_limits<double>::quiet_NaN();
  } else if constexpr (std::is_same_v<T, Bool>) {
    return Bool{value != 0};
  } else {
    return static_cast<T>(value);
  }
}

/// Toward zero; beyond the range of T the nearest end of it; a NaN gives 0.
template <class T>
T truncate_to(double value) {
  static_assert(std::is_integral_v<T>);
  // Both bounds are powers of two (or zero), hence exact in double.
  constexpr double kEnd = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2.0;
  constexpr double kBegin = std::is_signed_v<T> ? -kEnd : 0.0;
  if (value >= kEnd) return std::numeric_limits<T>::max();
  if (value <= kBegin) return std::numeric_limits<T>::min();
  return value == value ? static_cast<T>(value) : T{0};
}

}  // namespace mir::ref
