#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace mir::tools {
namespace {

Progress shown(unsigned shift, const char* unit) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [shift, unit](std::uint64_t done, std::uint64_t total) {
    fmt::print(stderr, "\r{}/{}{}{}", done >> shift, total >> shift, unit,
               done == total ? "\r\033[K" : "");
  };
}

}  // namespace

Progress count_progress() {
  return shown(0, "");
}

Progress byte_progress() {
  return shown(20, " MB");
}

}  // namespace mir::tools
