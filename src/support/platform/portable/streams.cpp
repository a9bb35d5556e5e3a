// The three standard streams by the standard library. Nothing is known of terminals or processes.
#include "support/platform/streams.hpp"

#include <cstdio>

namespace mir {

bool is_terminal(int) {
  return false;
}

void open_standard_streams() {}

bool wait_for_bytes(int, std::chrono::milliseconds) {
  return true;
}

std::optional<std::size_t> read_bytes(int stream, std::span<char> into) {
  if (stream != kStandardInput || into.empty()) return std::nullopt;
  // More would wait until all of it is there.
  const int byte = std::getc(stdin);
  if (byte == EOF) return std::ferror(stdin) != 0 ? std::nullopt : std::optional<std::size_t>(0);
  into.front() = static_cast<char>(byte);
  return 1;
}

bool write_bytes(int stream, std::string_view bytes) {
  if (stream != kStandardOutput && stream != kStandardError) return false;
  std::FILE* const file = stream == kStandardOutput ? stdout : stderr;
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
}

bool has_ended(std::int64_t) {
  return false;
}

}  // namespace mir
