// Reads whole files in the place of mapping them.
#include "support/platform/mapped_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "support/memory_size.hpp"
#include "support/platform/file_errors.hpp"
#include "support/platform/memory.hpp"

namespace mir {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path, Links links) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (links == Links::kRefuse && fs::is_symlink(fs::symlink_status(path, none)))
    return read_error(path, ELOOP);
  const auto status = fs::status(path, none);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Error{diag::kFileNotReadable,
                 fmt::format("cannot map '{}': expected a regular file", path)};
  }
  std::ifstream file(path, std::ios::binary);
  const auto size = file ? fs::file_size(path, none) : 0;
  if (!file || none) return read_error(path, file ? none.value() : errno);
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  if (size != 0) {
    const auto bytes = allocate_pages(memory_size(size));
    if (bytes.empty()) return read_error(path, ENOMEM);
    mapped->bytes_ = bytes;
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<std::size_t>(file.gcount()) != bytes.size()) return read_error(path, EIO);
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) release_pages({const_cast<std::byte*>(bytes_.data()), bytes_.size()});
}

std::span<const std::byte> guarded_mapping(std::span<const std::byte>) {
  return {};
}

bool lies_in_shortened_file(std::span<const std::byte>) {
  return false;
}

std::optional<MappingStamp> mapping_stamp(std::span<const std::byte>) {
  return std::nullopt;
}

void forget_pages(std::span<const std::byte>) {}

}  // namespace mir
