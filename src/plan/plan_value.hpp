// Values of a plan: those of the schedule with their indices, then those that the plan adds.
#pragma once

#include <array>
#include <cstdint>

#include "mir/tensor.hpp"
#include "mir/type.hpp"

namespace mir {

using PlanValueIndex = std::uint32_t;

/// Values of more dimensions have no planned place.
inline constexpr std::size_t kMaxPlannedRank = 8;

/// Kinds of memory that hold a value of a plan.
enum class Home : std::uint8_t {
  kInput,      ///< memory of the caller
  kConstant,   ///< a tensor of the session
  kParameter,  ///< likewise
  kOwn,        ///< a place in the plan's block
  kView,       ///< the bytes of another value
  kCache,      ///< memory of a cache, which its node provides when it runs
  kTensor,     ///< a tensor of its own, which its node makes and which ends after its last reader
};

/// A value: its element type and extents, and the order of its dimensions in memory.
struct PlanValue {
  Home home = Home::kOwn;
  /// True if extents are known when the value is made, and kernels see it as a TensorRef. The
  /// members below have a meaning only then.
  bool is_planned = false;
  std::uint16_t phase = 0;  ///< in which extents become known; see phases.hpp
  DType dtype = DType::kFloat32;
  std::uint8_t rank = 0;
  /// Dimension i is number memory[i] of those in memory, outermost first; row-major: 0, 1, 2, ...
  std::array<std::uint8_t, kMaxPlannedRank> memory = {};
  PlanValueIndex base = 0;      ///< kView: of which value, through no other view
  std::uint32_t first_dim = 0;  ///< of its extents among all extents of the plan

  bool is_row_major() const {
    for (std::uint8_t i = 0; i < rank; ++i) {
      if (memory[i] != i) return false;
    }
    return home != Home::kCache;
  }
};

}  // namespace mir
