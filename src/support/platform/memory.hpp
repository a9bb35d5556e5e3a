// Memory of this process: large pages, resident bytes and what goes back to the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mir {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Asks that memory which has not been written yet be backed by huge pages where it covers them:
/// filling it is bound by page faults otherwise, walking it by address translation. A hint.
void prefer_huge_pages(void* begin, std::size_t bytes);

/// Returns zero-filled memory, aligned to 64 bytes or more and taken from the system as pages that
/// cost nothing before they are written, where the system has such. Empty if memory is short.
std::span<std::byte> allocate_pages(std::size_t bytes);
/// True if memory of allocate_pages() takes no pages before it is written.
bool pages_are_lazy();
/// Gives back memory of allocate_pages(), all of it.
void release_pages(std::span<std::byte> pages);

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

/// Bytes of memory that the machine has; no value if the system does not tell.
std::optional<std::uint64_t> machine_memory();

/// Gives the pages of freed memory back to the system.
void return_free_memory();
/// From now on, memory of long objects goes back to the system when it is freed, whichever thread
/// frees it. For programs that run for days.
void return_long_objects();

}  // namespace mir
