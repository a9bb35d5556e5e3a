#include "mir/support/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace mir {
namespace {

Error write_error(const std::string& path, int number) {
  return {DiagCode::kFileNotWritable,
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

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  if (path == "-") {
    file.descriptor_ = ::dup(STDOUT_FILENO);
    if (file.descriptor_ < 0) return write_error(path, errno);
    return file;
  }
  struct stat existing {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return write_error(path, EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return write_error(path, errno);
    return file;
  }
  auto target = follow_links(path);
  if (!target) return std::move(target).error();
  file.target_ = *std::move(target);
  const auto directory = std::filesystem::path(file.target_).parent_path();
  const mode_t mode = exists ? 0600 : 0666;  // never more open than the file it replaces
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts && file.descriptor_ < 0; ++attempt) {
    auto name = (directory / fmt::format(".mir-{}-{}.tmp", ::getpid(), attempt)).string();
    file.descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file.descriptor_ >= 0) {
      file.temporary_ = std::move(name);
    } else if (errno != EEXIST) {
      break;
    }
  }
  if (file.descriptor_ < 0) return write_error(path, errno);
  if (exists && ::fchmod(file.descriptor_, existing.st_mode & 07777) != 0)
    return write_error(path, errno);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    size_ = other.size_;
  }
  return *this;
}

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
  const bool direct = temporary_.empty();
  if (!direct && ::fsync(descriptor_) != 0) return write_error(path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) return write_error(path_, errno);
  if (direct) return {};
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return write_error(path_, errno);
  temporary_.clear();
  return {};
}

}  // namespace mir
