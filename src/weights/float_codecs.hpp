// The float types as pairs of a stored type and conversions to and from double.
#pragma once

#include <cstdint>

#include "weights/elements.hpp"

namespace mir {

struct Float64Codec {
  using Stored = double;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return value; }
};

struct Float32Codec {
  using Stored = float;
  static double decode(Stored stored) { return stored; }
  static Stored encode(double value) { return static_cast<float>(value); }
};

struct Float16Codec {
  using Stored = std::uint16_t;
  static double decode(Stored stored) { return f16_to_double(stored); }
  static Stored encode(double value) { return f16_from_double(value); }
};

struct BFloat16Codec {
  using Stored = std::uint16_t;
  static double decode(Stored stored) { return bf16_to_double(stored); }
  static Stored encode(double value) { return bf16_from_double(value); }
};

struct Float8E4M3Codec {
  using Stored = std::uint8_t;
  static double decode(Stored stored) { return f8_e4m3_to_double(stored); }
  static Stored encode(double value) { return f8_e4m3_from_double(value); }
};

struct Float8E5M2Codec {
  using Stored = std::uint8_t;
  static double decode(Stored stored) { return f8_e5m2_to_double(stored); }
  static Stored encode(double value) { return f8_e5m2_from_double(value); }
};

/// Calls `use` with the codec of `dtype`, which must be a float type.
template <class Use>
void with_float_codec(DType dtype, Use use) {
  switch (dtype) {
    case DType::kFloat64:
      return use(Float64Codec{});
    case DType::kFloat32:
      return use(Float32Codec{});
    case DType::kFloat16:
      return use(Float16Codec{});
    case DType::kFloat8E4M3:
      return use(Float8E4M3Codec{});
    case DType::kFloat8E5M2:
      return use(Float8E5M2Codec{});
    default:
      return use(BFloat16Codec{});
  }
}

}  // namespace mir
