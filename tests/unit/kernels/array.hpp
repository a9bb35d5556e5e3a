// Operands for kernel tests: owned, guarded memory with any strides, filled and read as doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../numeric.hpp"
#include "kernels/ref/numeric.hpp"
#include "kernels/ref/view.hpp"

namespace mir::ref::test {

using mir::test::not_within;

/// Calls fn(std::type_identity<T>{}) for the dtypes that tests use.
template <class Fn>
auto with_type(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kFloat16:
      return fn(std::type_identity<Half>{});
    case DType::kBFloat16:
      return fn(std::type_identity<BFloat16>{});
    case DType::kFloat64:
      return fn(std::type_identity<double>{});
    case DType::kFloat8E4M3:
      return fn(std::type_identity<Float8E4M3>{});
    case DType::kFloat8E5M2:
      return fn(std::type_identity<Float8E5M2>{});
    case DType::kInt8:
      return fn(std::type_identity<std::int8_t>{});
    case DType::kInt16:
      return fn(std::type_identity<std::int16_t>{});
    case DType::kInt32:
      return fn(std::type_identity<std::int32_t>{});
    case DType::kInt64:
      return fn(std::type_identity<std::int64_t>{});
    case DType::kUInt8:
      return fn(std::type_identity<std::uint8_t>{});
    case DType::kUInt16:
      return fn(std::type_identity<std::uint16_t>{});
    case DType::kUInt32:
      return fn(std::type_identity<std::uint32_t>{});
    case DType::kUInt64:
      return fn(std::type_identity<std::uint64_t>{});
    case DType::kBool:
      return fn(std::type_identity<Bool>{});
    default:
      return fn(std::type_identity<float>{});
  }
}

/// A dense row-major array between two guards of 64 bytes; zero at first. Immovable views.
class Array {
 public:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kGuardByte{0xa5};

  Array(DType dtype, Dims extents)
      : dtype_(dtype), extents_(std::move(extents)), strides_(row_major_strides(extents_)) {
    count_ = static_cast<std::size_t>(element_count(View{dtype, nullptr, extents_, strides_}));
    bytes_.assign(count_ * info(dtype).unit_bytes + 2 * kGuard, std::byte{0});
    std::fill_n(bytes_.begin(), kGuard, kGuardByte);
    std::fill_n(bytes_.end() - kGuard, kGuard, kGuardByte);
  }
  Array(DType dtype, Dims extents, const std::vector<double>& values)
      : Array(dtype, std::move(extents)) {
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
  }

  std::size_t size() const { return count_; }
  DType dtype() const { return dtype_; }
  const Dims& extents() const { return extents_; }
  View view() const { return {dtype_, bytes_.data() + kGuard, extents_, strides_}; }
  operator View() const { return view(); }
  operator MutableView() { return {dtype_, bytes_.data() + kGuard, extents_, strides_}; }

  /// The same elements with two dimensions exchanged.
  void transpose(std::size_t a, std::size_t b) {
    std::swap(extents_[a], extents_[b]);
    std::swap(strides_[a], strides_[b]);
  }

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes_.data() + kGuard);
  }
  void set(std::size_t i, double value) {
    with_type(dtype_, [&]<class T>(std::type_identity<T>) {
      // Negative numbers go round in unsigned types.
      const bool round = std::is_unsigned_v<Wide<T>> && value < 0;
      as<T>()[i] = store<T>(round ? static_cast<Wide<T>>(static_cast<std::int64_t>(value))
                                  : static_cast<Wide<T>>(value));
    });
  }
  double operator[](std::size_t i) const {
    return with_type(dtype_, [&]<class T>(std::type_identity<T>) {
      return static_cast<double>(load<T>(reinterpret_cast<const T*>(bytes_.data() + kGuard)[i]));
    });
  }
  std::vector<double> values() const {
    std::vector<double> all(count_);
    for (std::size_t i = 0; i < count_; ++i) all[i] = (*this)[i];
    return all;
  }
  bool guards_intact() const {
    const auto intact = [](std::byte byte) { return byte == kGuardByte; };
    return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, intact) &&
           std::all_of(bytes_.end() - kGuard, bytes_.end(), intact);
  }

 private:
  DType dtype_;
  Dims extents_;
  Dims strides_;
  std::size_t count_ = 0;
  std::vector<std::byte> bytes_;
};

/// Reproducible values in [-scale, scale].
inline Array random_array(DType dtype, Dims extents, unsigned seed, double scale = 2.0) {
  Array array(dtype, std::move(extents));
  std::mt19937 bits(seed);
  for (std::size_t i = 0; i < array.size(); ++i) {
    array.set(i, (static_cast<double>(bits()) / 2147483648.0 - 1.0) * scale);
  }
  return array;
}

/// The distance of two stored values relative to one unit in the last place of `dtype` at `want`.
inline double ulp_distance(DType dtype, double got, double want) {
  if (got == want || (got != got && want != want)) return 0;
  const bool half = dtype == DType::kFloat16;
  const bool e4m3 = dtype == DType::kFloat8E4M3, e5m2 = dtype == DType::kFloat8E5M2;
  const int digits = half                        ? 11
                     : dtype == DType::kBFloat16 ? 8
                     : dtype == DType::kFloat64  ? 53
                     : e4m3                      ? 4
                     : e5m2                      ? 3
                                                 : 24;
  const int lowest = half || e5m2 ? -13 : dtype == DType::kFloat64 ? -1021 : e4m3 ? -5 : -125;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent, lowest) - digits);
}

/// As beyond_bounds of numeric.hpp, with bounds in ULP of the type; looks at as many elements as
/// are wanted.
template <class List>
std::string beyond_ulps(double ulps, DType dtype, const List& found,
                        const std::vector<double>& want) {
  return mir::test::beyond_bounds(
      want.size(), [&](std::size_t i) { return ulp_distance(dtype, found[i], want[i]); },
      [&](std::size_t i) { return found[i]; }, [&](std::size_t i) { return want[i]; },
      [&](std::size_t) { return ulps; });
}

inline constexpr DType kFloatingTypes[] = {DType::kFloat32, DType::kFloat16,    DType::kBFloat16,
                                           DType::kFloat64, DType::kFloat8E4M3, DType::kFloat8E5M2};
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace mir::ref::test
