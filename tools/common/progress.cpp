// Shows progress of long work on one line of a terminal.
#include "progress.hpp"

#include <fmt/format.h>

#include <chrono>

#include "standard_error.hpp"
#include "support/platform/streams.hpp"

namespace mir::tools {
namespace {

/// Delay before the first output. Shorter work shows nothing.
constexpr std::chrono::milliseconds kQuiet(500);

Progress shown(unsigned shift, const char* unit) {
  if (!is_terminal(kStandardError)) return {};
  return [shift, unit, first = std::chrono::steady_clock::now() + kQuiet](std::uint64_t done,
                                                                          std::uint64_t total) {
    if (std::chrono::steady_clock::now() < first) return;
    write_styled_error_text(fmt::format("\r{}/{}{}{}", done >> shift, total >> shift, unit,
                                        done == total ? "\r\033[K" : ""));
  };
}

}  // namespace

Progress count_progress(const char* unit) {
  return shown(0, unit);
}

Progress byte_progress() {
  return shown(20, " MB");
}

}  // namespace mir::tools
