// From a run-time element type to a C++ type.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::ref {

/// fn(std::type_identity<T>{}) with T the element type of `dtype`, for the floating types.
template <class Fn>
Result<void> with_floating(std::string_view kernel, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(std::type_identity<float>{});
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
    default:
      return dtype_error(kernel, dtype);
  }
}

/// Like with_floating(), also for integers.
template <class Fn>
Result<void> with_number(std::string_view kernel, DType dtype, Fn&& fn) {
  switch (dtype) {
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
    default:
      return with_floating(kernel, dtype, fn);
  }
}

/// Like with_floating(), also for integers and Bool.
template <class Fn>
Result<void> with_number_or_bool(std::string_view kernel, DType dtype, Fn&& fn) {
  if (dtype == DType::kBool) return fn(std::type_identity<Bool>{});
  return with_number(kernel, dtype, fn);
}

/// An element that is only moved.
template <std::size_t N>
struct Bits {
  std::array<std::byte, N> bytes;
};

/// fn(std::type_identity<Bits<N>>{}), N the size of one element; refuses types that pack several
/// elements into one storage unit.
template <class Fn>
Result<void> with_bits(std::string_view kernel, DType dtype, Fn&& fn) {
  switch (info(dtype).lanes == 1 ? info(dtype).unit_bytes : 0) {
    case 1:
      return fn(std::type_identity<Bits<1>>{});
    case 2:
      return fn(std::type_identity<Bits<2>>{});
    case 4:
      return fn(std::type_identity<Bits<4>>{});
    case 8:
      return fn(std::type_identity<Bits<8>>{});
    case 16:
      return fn(std::type_identity<Bits<16>>{});
    default:
      return dtype_error(kernel, dtype);
  }
}

}  // namespace mir::ref
