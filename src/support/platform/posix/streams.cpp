// Reads, writes and waits for streams by their descriptors.
#include "support/platform/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace mir {

bool is_terminal(int stream) {
  return ::isatty(stream) != 0;
}

void open_standard_streams() {
  for (int file = kStandardInput; file <= kStandardError; ++file) {
    const bool is_open = ::fcntl(file, F_GETFD) != -1;
    // The lowest number that is free is this one. A write to what is open for reading fails, as it
    // does to what is closed.
    if (!is_open && ::open("/dev/null", file == kStandardInput ? O_WRONLY : O_RDONLY) != file)
      return;
  }
}

bool wait_for_bytes(int stream, std::chrono::milliseconds longest) {
  pollfd ready{.fd = stream, .events = POLLIN, .revents = 0};
  const int count = ::poll(&ready, 1, static_cast<int>(longest.count()));
  return count > 0 || (count < 0 && errno != EINTR);
}

std::optional<std::size_t> read_bytes(int stream, std::span<char> into) {
  for (;;) {
    const ssize_t size = ::read(stream, into.data(), into.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return std::nullopt;
  }
}

bool write_bytes(int stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(stream, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool has_ended(std::int64_t process) {
  return process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

}  // namespace mir
