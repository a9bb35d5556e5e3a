// Builds local headers, directory entries and end records of a ZIP archive.
#include "weights/formats/zip_writer.hpp"

#include "weights/formats/zip_directory.hpp"
#include "weights/packed_fields.hpp"

namespace mir {
namespace {

constexpr std::uint16_t kVersion = 45;     // the first with 64-bit fields
constexpr std::uint16_t kFlags = 1 << 11;  // names are UTF-8
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kMidnight = 0;
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01
constexpr std::uint16_t kExtra64 = 1;            // kinds of extra fields
constexpr std::uint16_t kExtraAlignment = 0xD935;
constexpr std::size_t kLocalBytes = 30;

std::uint16_t u16(std::size_t value) {
  return static_cast<std::uint16_t>(value);
}

/// The extra field after which, `position` bytes into the archive, data are aligned.
std::string alignment_field(std::uint64_t position) {
  const std::uint64_t least = position + 3 * sizeof(std::uint16_t);
  const auto padding =
      static_cast<std::size_t>((kZipAlignment - least % kZipAlignment) % kZipAlignment);
  return pack(kExtraAlignment, u16(sizeof(std::uint16_t) + padding), u16(kZipAlignment)) +
         std::string(padding, '\0');
}

}  // namespace

std::string ZipWriter::begin_member(std::string_view name, std::uint64_t size, std::uint32_t crc,
                                    std::uint64_t position) {
  std::string extra = pack(kExtra64, u16(2 * sizeof size), size, size);
  extra += alignment_field(position + kLocalBytes + name.size() + extra.size());
  const std::string wide = pack(kExtra64, u16(3 * sizeof size), size, size, position);
  const std::string stated =
      pack(kFlags, kStored, kMidnight, kFirstDay, crc, kSee64, kSee64, u16(name.size()));
  constexpr std::uint16_t kNoComment = 0;
  constexpr std::uint16_t kDisk = 0;
  constexpr std::uint16_t kInternal = 0;
  constexpr std::uint32_t kExternal = 0;
  directory_ += "PK\1\2" + pack(kVersion, kVersion) + stated +
                pack(u16(wide.size()), kNoComment, kDisk, kInternal, kExternal, kSee64);
  directory_.append(name).append(wide);
  ++count_;
  return ("PK\3\4" + pack(kVersion) + stated + pack(u16(extra.size()))).append(name) + extra;
}

std::string ZipWriter::finish(std::uint64_t position) const {
  constexpr std::uint64_t kRest = 44;  // bytes of the first record after this field
  constexpr std::uint32_t kDisk = 0;
  constexpr std::uint32_t kDisks = 1;
  constexpr std::uint16_t kNone = 0;
  const std::uint64_t size = directory_.size();
  return directory_ + "PK\6\6" +
         pack(kRest, kVersion, kVersion, kDisk, kDisk, count_, count_, size, position) + "PK\6\7" +
         pack(kDisk, position + size, kDisks) + "PK\5\6" +
         pack(kNone, kNone, kSee64Short, kSee64Short, kSee64, kSee64, kNone);
}

}  // namespace mir
