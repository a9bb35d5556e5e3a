// Whole files in, whole files out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// Reads a file, or standard input for "-". Refuses more than `limit` bytes before reading them.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// A read-only mapping of a regular file. Special files are refused. Where another process shortens
/// the file meanwhile, its bytes turn to zeros: see lies_in_shortened_file().
class MappedFile {
 public:
  /// Treatment of a symbolic link in place of the file.
  enum class Links { kFollow, kRefuse };
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path,
                                                        Links links = Links::kFollow);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
};

/// Writes all of `text` to `path` or nothing: a temporary file beside it is written, synchronised
/// and renamed over it. Mode and a symbolic link at `path` are kept. "-" writes standard output.
Result<void> write_file_atomically(const std::string& path, std::string_view text);

}  // namespace mir
