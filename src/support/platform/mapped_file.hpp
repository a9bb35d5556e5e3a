// Files mapped into memory, which another process may shorten meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir {

/// note [shortened files]
/// Touching a page of a mapping that lies after the present end of its file raises SIGBUS, and
/// what touches it may be any kernel on any thread. For guarded mappings a handler puts zeros in
/// the place of the pages that are gone and lets the computation go on; nothing that it computes is
/// worth anything, so the caller that finishes a part of the work asks lies_in_shortened_file()
/// before handing it out. A file may also lose bytes without a fault, from the middle of its last
/// page, so that question looks at the file's size, too. Signal handlers belong to the process: the
/// handler is installed with the first mapping, is the only state that this library keeps for the
/// whole process, and passes other faults on to the handler that was installed before.
/// Where files cannot be mapped, a MappedFile holds a copy, which nothing shortens.

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

/// Identity of a mapped file and times of its changes, in nanoseconds since 1970.
struct MappingStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0;  ///< of the bytes; programs can set it
  std::int64_t changed = 0;   ///< of the bytes or of what the system knows about the file
};
/// Returns the present stamp of the file whose guarded mapping holds `bytes`; no value if they lie
/// in none.
std::optional<MappingStamp> mapping_stamp(std::span<const std::byte> bytes);

/// All bytes of the guarded mapping that `bytes` lie in; empty when they lie in none.
std::span<const std::byte> guarded_mapping(std::span<const std::byte> bytes);

/// True if `bytes` lie in a guarded mapping whose file is, or was, shorter than the mapping. The
/// caller keeps the mapping alive.
bool lies_in_shortened_file(std::span<const std::byte> bytes);

/// Gives back the memory of those pages of a guarded mapping that lie wholly in `bytes`; who reads
/// them again gets them from the file. Other bytes stay as they are.
void forget_pages(std::span<const std::byte> bytes);

}  // namespace mir
