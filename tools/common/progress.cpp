#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "standard_error.hpp"

namespace mir::tools {
namespace {

/// What is done sooner shows nothing.
constexpr std::chrono::milliseconds kQuiet(500);

Progress shown(unsigned shift, const char* unit) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  using Clock = std::chrono::steady_clock;
  return [shift, unit, first = Clock::now() + kQuiet](std::uint64_t done, std::uint64_t total) {
    if (Clock::now() < first) return;
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
