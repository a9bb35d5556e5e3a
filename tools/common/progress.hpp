// How far long work is, on a terminal.
#pragma once

#include <cstdint>
#include <functional>

namespace mir::tools {

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Shows `done/total` and the unit on one line of standard error, which it removes at the end; half
/// a second after this call at the earliest. Empty where standard error is no terminal.
Progress count_progress(const char* unit = "");
/// The same for bytes, shown in MB.
Progress byte_progress();

}  // namespace mir::tools
