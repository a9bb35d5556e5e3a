// Laying out a ZIP archive of stored members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mir {

/// Data of every member begin at a multiple of this many bytes.
inline constexpr std::uint64_t kZipAlignment = 64;

/// note [always 64 bits]
/// Every size and offset is written in the 64-bit extra field, whatever its value, so that one path
/// serves small and large archives. The 32-bit fields hold the marker for that. A second extra
/// field of the local header, of the kind that zipalign uses, fills up to where the data begin.
class ZipWriter {
 public:
  /// The local header of the next member, written from byte `position` of the archive on; as many
  /// bytes of data follow. Equal members give equal bytes: all have the same date.
  std::string begin_member(std::string_view name, std::uint64_t size, std::uint32_t crc,
                           std::uint64_t position);
  /// The directory and the end records, written from `position` on.
  std::string finish(std::uint64_t position) const;

 private:
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace mir
