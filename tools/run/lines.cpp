// Reads lines of standard input one by one.
#include "lines.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "support/platform/streams.hpp"

namespace mir::tools {

Result<std::optional<std::string>> LineReader::next() {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  while (true) {
    const std::size_t end = held_.find('\n');
    if (end != held_.npos || (has_ended_ && !held_.empty())) {
      std::string line = held_.substr(0, end);
      held_.erase(0, end == held_.npos ? end : end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return std::optional(std::move(line));
    }
    if (has_ended_) return std::optional<std::string>();
    if (held_.size() > kMostBytes)
      return Error{diag::kLimitExceeded,
                   fmt::format("a line of standard input has more than {} bytes", kMostBytes)};
    std::array<char, 4096> room;
    const auto count = read_bytes(kStandardInput, room);
    if (!count)
      return Error{diag::kFileNotReadable,
                   fmt::format("cannot read standard input: {}", std::strerror(errno))};
    if (*count == 0) {
      has_ended_ = true;
    } else {
      held_.append(room.data(), *count);
    }
  }
}

}  // namespace mir::tools
