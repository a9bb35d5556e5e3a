#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "checks.hpp"
#include "mir/files/npy.hpp"
#include "mir/files/npz.hpp"
#include "mir/support/atomic_file.hpp"
#include "zip_directory.hpp"

namespace mir {
namespace {

/// note [always 64 bits]
/// Every size and offset is written in the 64-bit extra field, whatever its value, so that one path
/// serves small and large archives. The 32-bit fields hold the marker for that.
constexpr std::uint32_t kSee64 = 0xFFFFFFFF;
constexpr std::uint16_t kSee64Short = 0xFFFF;
constexpr std::uint16_t kVersion = 45;     // the first with 64-bit fields
constexpr std::uint16_t kFlags = 1 << 11;  // names are UTF-8
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kMidnight = 0;
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01
constexpr std::uint16_t kExtra64 = 1;            // kind of the extra field

/// Little-endian fields, one after the other, each as wide as its type.
template <class... Fields>
std::string pack(Fields... fields) {
  std::string bytes;
  const auto append = [&](auto field) {
    static_assert(std::is_unsigned_v<decltype(field)>);
    for (std::size_t i = 0; i < sizeof field; ++i)
      bytes += static_cast<char>(field >> (8 * i) & 0xFF);
  };
  (append(fields), ...);
  return bytes;
}

std::uint16_t u16(std::size_t value) {
  return static_cast<std::uint16_t>(value);
}

/// One member: its NPY header and data, stored.
struct Member {
  std::string name;
  std::string header;
  std::span<const std::byte> data;
  std::uint32_t crc = 0;
  std::uint64_t offset = 0;  ///< of the local header

  std::uint64_t size() const { return header.size() + data.size(); }

  std::string local_header() const {
    const auto extra = pack(kExtra64, u16(16), size(), size());
    return "PK\3\4" +
           pack(kVersion, kFlags, kStored, kMidnight, kFirstDay, crc, kSee64, kSee64,
                u16(name.size()), u16(extra.size())) +
           name + extra;
  }

  std::string directory_entry() const {
    const auto extra = pack(kExtra64, u16(24), size(), size(), offset);
    constexpr std::uint16_t kNoComment = 0;
    constexpr std::uint16_t kDisk = 0;
    constexpr std::uint16_t kInternal = 0;
    constexpr std::uint32_t kExternal = 0;
    return "PK\1\2" +
           pack(kVersion, kVersion, kFlags, kStored, kMidnight, kFirstDay, crc, kSee64, kSee64,
                u16(name.size()), u16(extra.size()), kNoComment, kDisk, kInternal, kExternal,
                kSee64) +
           name + extra;
  }
};

std::string end_records(std::uint64_t count, std::uint64_t begin, std::uint64_t size) {
  constexpr std::uint64_t kRest = 44;  // bytes of the first record after this field
  constexpr std::uint32_t kDisk = 0;
  constexpr std::uint32_t kDisks = 1;
  constexpr std::uint16_t kNone = 0;
  return "PK\6\6" + pack(kRest, kVersion, kVersion, kDisk, kDisk, count, count, size, begin) +
         "PK\6\7" + pack(kDisk, begin + size, kDisks) + "PK\5\6" +
         pack(kNone, kNone, kSee64Short, kSee64Short, kSee64, kSee64, kNone);
}

Result<std::vector<Member>> make_members(std::span<const NamedTensor> tensors) {
  std::vector<Member> members;
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    const auto problem = name_problem(name);
    if (problem || name.find_first_of("/\\") != std::string::npos)
      return Error{DiagCode::kTensorNameInvalid,
                   fmt::format("a tensor name {}", problem ? *problem : "contains a slash")};
    if (!names.insert(name).second)
      return Error{DiagCode::kTensorNameInvalid, fmt::format("two tensors named '{}'", name)};
    auto header = npy_header(tensor);
    if (!header)
      return Error{header.error().code,
                   fmt::format("tensor '{}': {}", name, header.error().message)};
    auto& member = members.emplace_back(Member{name + ".npy", *std::move(header), tensor.bytes()});
    const auto header_crc = crc32_of(std::as_bytes(std::span(member.header)));
    member.crc = crc32_of(member.data, header_crc);
  }
  return members;
}

}  // namespace

Result<void> write_npz(const std::string& path, std::span<const NamedTensor> tensors) {
  auto members = make_members(tensors);
  if (!members) return std::move(members).error();
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  std::string directory;
  for (auto& member : *members) {
    member.offset = file->size();
    if (auto written = file->write(member.local_header() + member.header); !written) return written;
    if (auto written = file->write(member.data); !written) return written;
    directory += member.directory_entry();
  }
  const auto ending = end_records(members->size(), file->size(), directory.size());
  if (auto written = file->write(directory + ending); !written) return written;
  return file->commit();
}

}  // namespace mir
