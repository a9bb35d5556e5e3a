// Names of instruction set levels, and detection of the highest level that the processor supports.
#include "kernels/isa.hpp"

#include <algorithm>

namespace mir {
namespace {

struct LevelRow {
  IsaLevel level;
  std::string_view name;
};

constexpr LevelRow kRows[] = {
    {IsaLevel::kScalar, "scalar"},          {IsaLevel::kAvx2, "avx2"},
    {IsaLevel::kAvx512, "avx512"},          {IsaLevel::kAvx512Vnni, "avx512-vnni"},
    {IsaLevel::kAvx512Bf16, "avx512-bf16"},
};

constexpr IsaLevel kLevels[] = {IsaLevel::kScalar, IsaLevel::kAvx2, IsaLevel::kAvx512,
                                IsaLevel::kAvx512Vnni, IsaLevel::kAvx512Bf16};
static_assert(std::ranges::equal(kLevels, kRows, {}, {}, &LevelRow::level));

#if defined(__x86_64__)
/// True if this machine has the extensions that `level` adds to the level before it. The builtin
/// also asks whether the operating system saves the registers. Clang 14 cannot ask for F16C, which
/// every AVX2 machine has.
bool has_step(IsaLevel level) {
  switch (level) {
    case IsaLevel::kScalar:
      return true;
    case IsaLevel::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2");
    case IsaLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case IsaLevel::kAvx512Vnni:
      return __builtin_cpu_supports("avx512vnni");
    case IsaLevel::kAvx512Bf16:
      return __builtin_cpu_supports("avx512bf16");
  }
  return false;
}
#else
bool has_step(IsaLevel level) {
  return level == IsaLevel::kScalar;
}
#endif

}  // namespace

std::span<const IsaLevel> isa_levels() {
  return kLevels;
}

std::string_view name_of(IsaLevel level) {
  return kRows[static_cast<std::size_t>(level)].name;
}

std::optional<IsaLevel> isa_level_from_name(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &LevelRow::name);
  if (row == std::end(kRows)) return std::nullopt;
  return row->level;
}

IsaLevel detected_isa_level() {
  IsaLevel detected = IsaLevel::kScalar;
  for (const IsaLevel level : kLevels) {
    if (!has_step(level)) break;
    detected = level;
  }
  return detected;
}

}  // namespace mir
