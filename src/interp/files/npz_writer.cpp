#include <fmt/format.h>

#include <limits>

#include "mir/files/npy.hpp"
#include "mir/files/npz.hpp"
#include "pack.hpp"
#include "tensor_writer.hpp"
#include "zip_directory.hpp"

namespace mir {
namespace {

/// note [always 64 bits]
/// Every size and offset is written in the 64-bit extra field, whatever its value, so that one path
/// serves small and large archives. The 32-bit fields hold the marker for that.
constexpr std::uint16_t kVersion = 45;     // the first with 64-bit fields
constexpr std::uint16_t kFlags = 1 << 11;  // names are UTF-8
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kMidnight = 0;
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01
constexpr std::uint16_t kExtra64 = 1;            // kind of the extra field

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

Result<void> check(std::span<const TensorPlan> plans) {
  for (const auto& plan : plans) {
    if (plan.name.find_first_of("/\\") != std::string::npos)
      return Error{DiagCode::kTensorNameInvalid, "a tensor name contains a slash"};
  }
  return check_plans(plans, {.format = TensorFormat::kNpz,
                             .max_name = std::numeric_limits<std::uint16_t>::max() - 4,
                             .max_rank = kMaxFileRank});
}

Result<Member> make_member(const TensorPlan& plan, const Tensor& tensor, std::uint64_t offset) {
  auto header = npy_header(tensor);
  if (!header)
    return Error{header.error().code,
                 fmt::format("tensor '{}': {}", plan.name, header.error().message)};
  const auto header_crc = crc32_of(std::as_bytes(std::span(*header)));
  return Member{.name = plan.name + ".npy",
                .header = *std::move(header),
                .data = tensor.bytes(),
                .crc = crc32_of(tensor.bytes(), header_crc),
                .offset = offset};
}

}  // namespace

Result<void> write_npz_plans(const std::string& path, std::span<const TensorPlan> plans,
                             const WriteOptions& options) {
  if (auto checked = check(plans); !checked) return checked;
  auto file = TensorWriter::create(path, plans, options);
  if (!file) return std::move(file).error();
  std::string directory;
  for (const auto& plan : plans) {
    const auto tensor = load_planned(plan);
    if (!tensor) return tensor.error();
    const auto member = make_member(plan, *tensor, file->size());
    if (!member) return member.error();
    if (auto written = file->write(member->local_header() + member->header); !written)
      return written;
    if (auto written = file->write_data(*tensor); !written) return written;
    directory += member->directory_entry();
  }
  const auto ending = end_records(plans.size(), file->size(), directory.size());
  if (auto written = file->write(directory + ending); !written) return written;
  return file->commit();
}

Result<void> write_npz(const std::string& path, std::span<const NamedTensor> tensors) {
  return write_npz_plans(path, plans_of(tensors), {});
}

}  // namespace mir
