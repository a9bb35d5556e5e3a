// Instruction sets that kernels are written for, as levels of which each includes those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mir {

/// Reference kernels give the same bits at every level; other kernel sets state what they promise.
enum class IsaLevel : std::uint8_t {
  kScalar,      ///< what every machine has
  kAvx2,        ///< AVX2, FMA, BMI2 and F16C
  kAvx512,      ///< AVX-512 F, CD, BW, DQ and VL
  kAvx512Vnni,  ///< products of 8-bit and 16-bit integers
  kAvx512Bf16,  ///< products of bfloat16
};

/// Every level, ascending.
std::span<const IsaLevel> isa_levels();

/// `scalar`, `avx2`, `avx512`, `avx512-vnni` or `avx512-bf16`.
std::string_view name_of(IsaLevel level);
std::optional<IsaLevel> isa_level_from_name(std::string_view name);

/// The highest level of which this machine and its operating system support all of it.
IsaLevel detected_isa_level();

}  // namespace mir
