// Writes to an unnamed or temporary file, and renames it over the target when it is complete.
#include "support/platform/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/platform/file_errors.hpp"

namespace mir {
namespace {

/// The name at the end of a chain of symbolic links, which need not exist.
Result<std::string> follow_links(const std::string& path) {
  constexpr int kMaxLinks = 40;
  std::filesystem::path at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code none;
    const auto next = std::filesystem::read_symlink(at, none);
    if (none) return at.string();
    at = at.parent_path() / next;  // an absolute link replaces the whole path
  }
  return write_error(path, ELOOP);
}

std::string directory_of(const std::string& target) {
  const std::string directory = std::filesystem::path(target).parent_path().string();
  return directory.empty() ? "." : directory;
}

/// Opens a file without a name in the target's directory. Negative if the file system has no such
/// files, or if nothing could name the file later.
int open_unnamed(const std::string& target, mode_t mode) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  return ::open(directory_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

/// Returns the first unused name beside `target` with which `make` succeeds; empty, with errno set,
/// if there is none.
template <class Make>
std::string make_temporary(const std::string& target, Make make) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto name = fmt::format("{}/.mir-{}-{}.tmp", directory_of(target), ::getpid(), attempt);
    if (make(name.c_str())) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

/// Keeps the signals that people end programs with waiting.
class InterruptsHeld {
 public:
  InterruptsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kSignals) sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~InterruptsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

  /// True if a signal is pending that only this object holds back.
  bool waiting() const {
    sigset_t pending;
    ::sigpending(&pending);
    return std::any_of(std::begin(kSignals), std::end(kSignals), [&](int signal) {
      return sigismember(&pending, signal) == 1 && sigismember(&before_, signal) == 0;
    });
  }

 private:
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
  sigset_t before_;
};

/// Appends the first `size` bytes of one file to another. False, with errno set, on failure and
/// when a held signal waits.
bool copy_bytes(int from, int to, std::uint64_t size, const InterruptsHeld& held) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 24;
  off_t at = 0;
  while (static_cast<std::uint64_t>(at) < size) {
    if (held.waiting()) return errno = EINTR, false;
    const auto piece = std::min(kPiece, size - static_cast<std::uint64_t>(at));
    const auto count = ::sendfile(to, from, &at, static_cast<std::size_t>(piece));
    if (count == 0) return errno = EIO, false;
    if (count < 0 && errno != EINTR) return false;
  }
  return true;
}

/// A new file at `name` with the mode and the bytes of `from`, on the disk; negative, with errno
/// set, on failure.
int copy_to(const char* name, int from, std::uint64_t size, const InterruptsHeld& held) {
  const int copy = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (copy < 0) return copy;
  struct stat status {};
  if (::fstat(from, &status) == 0 && ::fchmod(copy, status.st_mode & 07777) == 0 &&
      copy_bytes(from, copy, size, held) && ::fsync(copy) == 0)
    return copy;
  const int number = errno;
  ::close(copy);
  ::unlink(name);
  errno = number;
  return -1;
}

}  // namespace

struct AtomicFile::State {
  std::string path;       // as given, for messages
  std::string target;     // what the rename replaces; empty when written directly
  std::string temporary;  // the name of the temporary file while it has one
  bool unlinked = false;  // the file had a name once and can be unnamed again
  int descriptor = -1;
  std::uint64_t size = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { discard(); }

  void discard() noexcept {
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
    if (!temporary.empty()) ::unlink(temporary.c_str());
    temporary.clear();
  }
};

Result<AtomicFile> AtomicFile::create(const std::string& path, Existing existing) {
  auto file = std::make_unique<State>();
  file->path = path;
  const bool replaces = existing == Existing::kReplace;
  if (path == "-" && !replaces) {
    file->descriptor = ::dup(STDOUT_FILENO);
    if (file->descriptor < 0) return write_error(path, errno);
    return AtomicFile(std::move(file));
  }
  struct stat found {};
  const bool exists =
      (replaces ? ::lstat(path.c_str(), &found) : ::stat(path.c_str(), &found)) == 0;
  const bool is_file = exists && S_ISREG(found.st_mode);
  if (exists && S_ISDIR(found.st_mode)) return write_error(path, EISDIR);
  if (exists && !is_file && !replaces) {
    file->descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file->descriptor < 0) return write_error(path, errno);
    return AtomicFile(std::move(file));
  }
  auto target = replaces ? Result<std::string>(path) : follow_links(path);
  if (!target) return std::move(target).error();
  file->target = *std::move(target);
  const mode_t mode = is_file ? 0600 : 0666;  // never more open than the file it replaces
  file->descriptor = open_unnamed(file->target, mode);
  if (file->descriptor < 0) {
    const InterruptsHeld held;  // between the name and its end
    file->temporary = make_temporary(file->target, [&](const char* name) {
      file->descriptor = ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      return file->descriptor >= 0;
    });
    file->unlinked = file->descriptor >= 0 && ::unlink(file->temporary.c_str()) == 0;
    if (file->unlinked) file->temporary.clear();
  }
  if (file->descriptor < 0) return write_error(path, errno);
  if (is_file && ::fchmod(file->descriptor, found.st_mode & 07777) != 0)
    return write_error(path, errno);
  return AtomicFile(std::move(file));
}

AtomicFile::AtomicFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AtomicFile::AtomicFile(AtomicFile&& other) noexcept = default;
AtomicFile::~AtomicFile() = default;

std::uint64_t AtomicFile::size() const {
  return state_->size;
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const auto count = ::write(state_->descriptor, bytes.data(), std::min(bytes.size(), kPiece));
    if (count < 0) {
      if (errno == EINTR) continue;
      return write_error(state_->path, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    state_->size += static_cast<std::uint64_t>(count);
  }
  return {};
}

bool AtomicFile::set_modified(std::int64_t time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec modified = {.tv_sec = static_cast<time_t>(time / kSecond),
                             .tv_nsec = static_cast<long>(time % kSecond)};
  const timespec times[] = {modified, modified};
  return ::futimens(state_->descriptor, times) == 0;
}

Result<void> AtomicFile::commit() {
  if (state_->target.empty()) {
    if (::close(std::exchange(state_->descriptor, -1)) != 0)
      return write_error(state_->path, errno);
    return {};
  }
  if (!state_->unlinked && ::fsync(state_->descriptor) != 0)
    return write_error(state_->path, errno);
  const InterruptsHeld held;  // a temporary name shall not outlive the program
  const auto fail = [&] {
    const int number = errno;
    state_->discard();
    return write_error(state_->path, number);
  };
  if (state_->unlinked) {
    int copy = -1;
    state_->temporary = make_temporary(state_->target, [&](const char* name) {
      copy = copy_to(name, state_->descriptor, state_->size, held);
      return copy >= 0;
    });
    if (state_->temporary.empty()) return fail();
    ::close(std::exchange(state_->descriptor, copy));
  } else if (state_->temporary.empty()) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", state_->descriptor);
    state_->temporary = make_temporary(state_->target, [&](const char* name) {
      return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (state_->temporary.empty()) return fail();
  }
  if (::close(std::exchange(state_->descriptor, -1)) != 0) return fail();
  if (std::rename(state_->temporary.c_str(), state_->target.c_str()) != 0) return fail();
  state_->temporary.clear();
  return {};
}

}  // namespace mir
