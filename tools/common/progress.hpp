// Progress of long work, on a terminal.
#pragma once

#include <cstdint>
#include <functional>

namespace mir::tools {

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Shows `done/total` and the unit on one line of standard error, which it removes at the end; half
/// a second after this call at the earliest. Empty if standard error is not a terminal.
Progress count_progress(const char* unit = "");
/// Like count_progress(), for runs that take about the same time each: with their rate and the time
/// that is left.
Progress rate_progress(const char* unit);
/// Like count_progress(), for bytes, shown in MB.
Progress byte_progress();

}  // namespace mir::tools
