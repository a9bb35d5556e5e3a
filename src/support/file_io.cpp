// Reads, maps and atomically writes whole files.
#include "support/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "support/atomic_file.hpp"
#include "support/mapping_guard.hpp"

namespace mir {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number, bool owned = true) : number_(number), owned_(owned) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned_ && number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// It is no longer closed here.
  void release() { owned_ = false; }

 private:
  int number_;
  bool owned_;
};

Error read_error(const std::string& path, int number) {
  return {diag::kFileNotReadable,
          fmt::format("cannot read '{}': {}", path, std::generic_category().message(number))};
}

Error size_error(const std::string& path, std::uint64_t limit) {
  return {diag::kFileTooLarge,
          fmt::format("'{}' is larger than the limit of {} bytes", path, limit)};
}

/// Reads to the end, whatever size the file was said to have.
Result<std::string> read_all(int descriptor, const std::string& path, std::uint64_t expected,
                             std::uint64_t limit) {
  constexpr std::uint64_t kFirstPiece = std::uint64_t{64} << 10;
  std::string text;
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) {
      // One byte over what is expected or allowed, so that the end, or the excess, is seen.
      const std::uint64_t wanted = used == 0 ? std::max(expected + 1, kFirstPiece) : used * 2;
      text.resize(static_cast<std::size_t>(limit < wanted ? limit + 1 : wanted));
    }
    const ssize_t count = ::read(descriptor, text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return read_error(path, errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used > limit) return size_error(path, limit);
  }
  text.resize(used);
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
                        !standard_input);
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return read_error(path, errno);
  if (S_ISDIR(status.st_mode)) return read_error(path, EISDIR);
  const bool has_size = S_ISREG(status.st_mode) && !standard_input;
  const auto expected = has_size ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (expected > limit) return size_error(path, limit);
  return read_all(file.number(), path, expected, limit);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path, Links links) {
  // Not blocking: opening a FIFO would wait for a writer before it could be refused.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                           (links == Links::kRefuse ? O_NOFOLLOW : 0)));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return read_error(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{diag::kFileNotReadable,
                 fmt::format("cannot map '{}': expected a regular file", path)};
  }
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size != 0) {
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (at == MAP_FAILED) return read_error(path, errno);
    mapped->bytes_ = {static_cast<const std::byte*>(at), size};
    if (!guard_mapping(mapped->bytes_, file.number()))
      return Error{diag::kLimitExceeded,
                   fmt::format("cannot map '{}': too many files are mapped", path)};
    file.release();
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  release_mapping(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<void> write_file_atomically(const std::string& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  if (auto written = file->write(std::as_bytes(std::span(text))); !written) return written;
  return file->commit();
}

}  // namespace mir
