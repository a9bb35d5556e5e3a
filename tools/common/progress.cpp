// Shows progress of long work on one line of a terminal.
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
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

Progress rate_progress(const char* unit) {
  if (!is_terminal(kStandardError)) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [unit, begin](std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (now < begin + kQuiet || done == 0) return;
    const double rate =
        static_cast<double>(done) / std::chrono::duration<double>(now - begin).count();
    const double left = static_cast<double>(total - std::min(done, total)) / rate;
    write_styled_error_text(fmt::format("\r\033[K{}/{}{}, {:.1f} a second, {:.0f} s left{}", done,
                                        total, unit, rate, left, done == total ? "\r\033[K" : ""));
  };
}

Progress byte_progress() {
  return shown(20, " MB");
}

}  // namespace mir::tools
