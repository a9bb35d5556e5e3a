// Reads current and peak resident memory from /proc/self/status, and resets the peak.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "support/platform/memory.hpp"

namespace mir {

namespace {

/// Reads the bytes of a line such as "VmRSS:      1234 kB".
std::optional<std::uint64_t> bytes_of(std::string_view line, std::string_view field) {
  if (!line.starts_with(field)) return std::nullopt;
  line.remove_prefix(field.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  std::uint64_t kilobytes = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), kilobytes);
  const bool is_read =
      error == std::errc() && std::string_view(end, line.data() + line.size()) == " kB";
  return is_read ? std::optional(kilobytes * 1024) : std::nullopt;
}

}  // namespace

std::optional<ResidentMemory> resident_memory() {
  std::ifstream status("/proc/self/status");
  std::optional<std::uint64_t> now, peak;
  for (std::string line; std::getline(status, line);) {
    if (const auto bytes = bytes_of(line, "VmRSS:")) now = bytes;
    if (const auto bytes = bytes_of(line, "VmHWM:")) peak = bytes;
  }
  if (!now || !peak) return std::nullopt;
  return ResidentMemory{.now = *now, .peak = *peak};
}

bool restart_resident_peak() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << '5' << std::flush);
}

}  // namespace mir
