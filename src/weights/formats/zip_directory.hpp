// The directory of a ZIP archive in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

/// Value of a field whose number is in the 64-bit part of its record.
inline constexpr std::uint32_t kSee64 = 0xFFFFFFFF;
inline constexpr std::uint16_t kSee64Short = 0xFFFF;

Error malformed_zip(std::string_view text);

struct ZipMember {
  std::string name;
  std::uint64_t begin = 0;          ///< of its local header in the archive
  std::span<const std::byte> data;  ///< as stored
  std::uint64_t size = 0;           ///< inflated
  std::uint32_t crc = 0;            ///< of the inflated bytes
  bool deflated = false;

  /// True for the entry of a folder, which has no data.
  bool is_folder() const { return name.ends_with('/'); }
};

/// True if a member can have this name: a name, or names separated by `/`, of a file in a folder or
/// below it. Archives hold keys such as `layers/0/w`; nothing here uses them as paths, but programs
/// that unpack archives do.
bool is_member_name(std::string_view name);

/// Every member, entries for folders included, in the order of the directory; 64-bit fields are
/// understood. Refused with kNpzMalformed: encrypted or patched members, methods other than stored
/// and deflated, local headers that differ from the directory, ranges that overlap or leave the
/// file, sizes that deflate cannot reach, names that repeat or that is_member_name() refuses,
/// several disks, and anything between the directory, its end records and the end of the file.
Result<std::vector<ZipMember>> read_zip_directory(std::span<const std::byte> bytes);

struct ZipContent {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< null when borrowed from the archive
};

/// The bytes of a member: stored ones borrowed, deflated ones held by the result. An inflated size
/// or a checksum other than stated is refused.
Result<ZipContent> read_zip_member(const ZipMember& member);

/// CRC-32 of the bytes whose CRC-32 is `crc` (0: of none) followed by `bytes`.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace mir
