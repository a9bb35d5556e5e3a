// Resident memory of this process.
#pragma once

#include <cstdint>
#include <optional>

namespace mir {

/// Bytes of pages that are in memory, those of mapped files included.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;  ///< the most since the process began or restart_peak()
};

/// Returns no value if the system does not provide the numbers; Linux does.
std::optional<ResidentMemory> resident_memory();

/// Restarts the peak at the present size. Returns false, and keeps the peak, if the system cannot
/// do that.
bool restart_resident_peak();

}  // namespace mir
