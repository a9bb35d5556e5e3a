// Memory that a schedule needs, estimated from types alone.
#pragma once

#include <cstdint>
#include <optional>

#include "mir/type.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Returns the bytes of a tensor of this type under `bindings`; no value if an extent or the
/// element type is unknown, or the size overflows.
std::optional<std::uint64_t> tensor_bytes(const Type* type, const DimTable& dims,
                                          const DimBindings& bindings);

struct MemoryEstimate {
  std::uint64_t parameters = 0;
  std::uint64_t constants = 0;
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  std::uint64_t caches = 0;       ///< bytes in caches after the run
  std::uint64_t activations = 0;  ///< most bytes of results alive at once, outputs included, as
                                  ///< StorageLife defines
  /// The most that is alive at once. Caches count twice: a run keeps their former content until it
  /// has succeeded.
  std::uint64_t peak() const { return parameters + constants + inputs + 2 * caches + activations; }
};

/// Returns no value if a symbol that sizes a value has no value, or a sum overflows.
std::optional<MemoryEstimate> estimate_memory(const Schedule& schedule,
                                              const DimBindings& bindings);

}  // namespace mir
