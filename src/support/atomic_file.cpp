// Writes to an unnamed or temporary file, and renames it over the target when it is complete.
#include "support/atomic_file.hpp"

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

#include "mir/codes/files.hpp"

namespace mir {
namespace {

Error write_error(const std::string& path, int number) {
  return {diag::kFileNotWritable,
          fmt::format("cannot write '{}': {}", path, std::generic_category().message(number))};
}

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
    const auto count = ::sendfile(to, from, &at, piece);
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

Result<AtomicFile> AtomicFile::create(const std::string& path, Existing existing) {
  AtomicFile file;
  file.path_ = path;
  const bool replaces = existing == Existing::kReplace;
  if (path == "-" && !replaces) {
    file.descriptor_ = ::dup(STDOUT_FILENO);
    if (file.descriptor_ < 0) return write_error(path, errno);
    return file;
  }
  struct stat found {};
  const bool exists =
      (replaces ? ::lstat(path.c_str(), &found) : ::stat(path.c_str(), &found)) == 0;
  const bool is_file = exists && S_ISREG(found.st_mode);
  if (exists && S_ISDIR(found.st_mode)) return write_error(path, EISDIR);
  if (exists && !is_file && !replaces) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return write_error(path, errno);
    return file;
  }
  auto target = replaces ? Result<std::string>(path) : follow_links(path);
  if (!target) return std::move(target).error();
  file.target_ = *std::move(target);
  const mode_t mode = is_file ? 0600 : 0666;  // never more open than the file it replaces
  file.descriptor_ = open_unnamed(file.target_, mode);
  if (file.descriptor_ < 0) {
    const InterruptsHeld held;  // between the name and its end
    file.temporary_ = make_temporary(file.target_, [&](const char* name) {
      file.descriptor_ = ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      return file.descriptor_ >= 0;
    });
    file.unlinked_ = file.descriptor_ >= 0 && ::unlink(file.temporary_.c_str()) == 0;
    if (file.unlinked_) file.temporary_.clear();
  }
  if (file.descriptor_ < 0) return write_error(path, errno);
  if (is_file && ::fchmod(file.descriptor_, found.st_mode & 07777) != 0)
    return write_error(path, errno);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      unlinked_(other.unlinked_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kPiece));
    if (count < 0) {
      if (errno == EINTR) continue;
      return write_error(path_, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (target_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0) return write_error(path_, errno);
    return {};
  }
  if (!unlinked_ && ::fsync(descriptor_) != 0) return write_error(path_, errno);
  const InterruptsHeld held;  // a temporary name shall not outlive the program
  const auto fail = [&] {
    const int number = errno;
    discard();
    return write_error(path_, number);
  };
  if (unlinked_) {
    int copy = -1;
    temporary_ = make_temporary(target_, [&](const char* name) {
      copy = copy_to(name, descriptor_, size_, held);
      return copy >= 0;
    });
    if (temporary_.empty()) return fail();
    ::close(std::exchange(descriptor_, copy));
  } else if (temporary_.empty()) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    temporary_ = make_temporary(target_, [&](const char* name) {
      return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (temporary_.empty()) return fail();
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) return fail();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return fail();
  temporary_.clear();
  return {};
}

}  // namespace mir
