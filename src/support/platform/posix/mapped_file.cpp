// Maps files and guards the mappings.
#include "support/platform/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "mir/codes/limits.hpp"
#include "support/memory_size.hpp"
#include "support/platform/file_errors.hpp"
#include "support/platform/posix/descriptor.hpp"
#include "support/platform/posix/mapping_guard.hpp"

namespace mir {

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
  // Where addresses have 32 bits, a file may be too large: mapping so much fails.
  const std::size_t size = memory_size(static_cast<std::uint64_t>(status.st_size));
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

}  // namespace mir
