// Reads the descriptor tables of `.mllm` files of both versions, and maps their type numbers.
#include "weights/formats/mllm.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "weights/byte_cursor.hpp"
#include "weights/checks.hpp"

namespace mir {
namespace {

constexpr std::uint64_t kHeaderV1 = 12;  // magic, bytes of the table
constexpr std::uint64_t kNameV2 = 512;
constexpr std::uint64_t kHeaderV2 = 532;
constexpr std::uint64_t kDescriptorV2 = 352;
constexpr std::uint64_t kMaxRankV2 = 16;
constexpr std::uint64_t kTensorNameV2 = 256;

struct Table {
  std::vector<StoredTensor> tensors;
  std::uint64_t end = 0;  ///< the first byte that may be data
};

/// Without the file's name.
Error malformed_mllm(std::string text) {
  return {diag::kMllmMalformed, std::move(text)};
}

/// Checks what message texts and later steps rely on.
Result<DType> checked_dtype(std::string_view name, std::uint32_t id) {
  if (const auto problem = name_problem(name))
    return malformed_mllm(fmt::format("a tensor name {}", *problem));
  const auto dtype = dtype_from_mllm(id);
  if (!dtype) return malformed_mllm(fmt::format("tensor '{}' has the unknown dtype {}", name, id));
  return *dtype;
}

Result<StoredTensor> read_descriptor_v1(ByteCursor& table) {
  StoredTensor tensor;
  tensor.name = table.text(table.read<std::uint32_t>());
  const auto length = table.read<std::uint64_t>();
  tensor.begin = table.read<std::uint64_t>();
  const auto id = table.read<std::uint32_t>();
  if (!table.ok()) return malformed_mllm("the table ends inside a descriptor");
  const auto dtype = checked_dtype(tensor.name, id);
  if (!dtype) return dtype.error();
  tensor.dtype = *dtype;
  tensor.end = tensor.begin + length;  // less than begin when it wraps, which is refused later
  const DTypeInfo& row = info(*dtype);
  if (length % row.unit_bytes != 0)
    return malformed_mllm(
        fmt::format("tensor '{}' of type {} has {} bytes, expected a multiple of {}", tensor.name,
                    row.name, length, row.unit_bytes));
  const std::uint64_t units = length / row.unit_bytes;
  if (units > std::uint64_t{std::numeric_limits<std::int64_t>::max()} / row.lanes)
    return malformed_mllm(fmt::format("tensor '{}' has {} bytes", tensor.name, length));
  tensor.shape = {static_cast<std::int64_t>(units * row.lanes)};
  return tensor;
}

Result<Table> read_table_v1(std::span<const std::byte> bytes) {
  ByteCursor header(bytes, sizeof(std::uint32_t));
  const auto size = header.read<std::uint64_t>();
  if (!header.ok() || size > header.remaining())
    return malformed_mllm(fmt::format("a table of {} bytes in a file of {}", size, bytes.size()));
  Table table;
  table.end = kHeaderV1 + size;
  ByteCursor descriptors(bytes.first(memory_size(table.end)), kHeaderV1);
  while (descriptors.remaining() != 0) {
    auto tensor = read_descriptor_v1(descriptors);
    if (!tensor) return std::move(tensor).error();
    table.tensors.push_back(*std::move(tensor));
  }
  return table;
}

Result<StoredTensor> read_descriptor_v2(ByteCursor table) {
  table.read<std::uint32_t>();  // its number in the table
  const auto id = table.read<std::uint32_t>();
  const auto length = table.read<std::uint64_t>();
  StoredTensor tensor;
  tensor.begin = table.read<std::uint64_t>();
  tensor.end = tensor.begin + length;
  const auto rank = table.read<std::uint64_t>();
  std::int32_t extents[kMaxRankV2];
  for (auto& extent : extents) extent = table.read<std::int32_t>();
  tensor.name = table.padded_text(kTensorNameV2);
  const auto dtype = checked_dtype(tensor.name, id);
  if (!dtype) return dtype.error();
  tensor.dtype = *dtype;
  if (rank > kMaxRankV2)
    return malformed_mllm(
        fmt::format("tensor '{}' has rank {}, expected at most {}", tensor.name, rank, kMaxRankV2));
  tensor.shape.assign(extents, extents + rank);
  return tensor;
}

/// The bytes after a header that states no tensors are those of a writer that did not finish.
Result<Table> read_table_v2(std::span<const std::byte> bytes, std::string& model_name) {
  ByteCursor header(bytes, sizeof(std::uint32_t));
  const auto version = header.read<std::uint32_t>();
  model_name = header.padded_text(kNameV2);
  const auto count = header.read<std::uint32_t>();
  const auto begin = header.read<std::uint64_t>();
  if (!header.ok())
    return malformed_mllm(
        fmt::format("{} bytes are too few for a header of {}", bytes.size(), kHeaderV2));
  if (version != 2) return malformed_mllm(fmt::format("version {}, expected 2", version));
  if (count == 0 && bytes.size() > kHeaderV2)
    return malformed_mllm("the header states no tensors, but data follow: an interrupted write");
  if (!model_name.empty() && name_problem(model_name))
    return malformed_mllm(fmt::format("the model name {}", *name_problem(model_name)));
  if (begin < kHeaderV2 || begin > bytes.size() || count > (bytes.size() - begin) / kDescriptorV2)
    return malformed_mllm(fmt::format("a table of {} descriptors at byte {} in a file of {} bytes",
                                      count, begin, bytes.size()));
  Table table;
  table.end = begin + count * kDescriptorV2;
  table.tensors.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto tensor = read_descriptor_v2(ByteCursor(bytes, begin + i * kDescriptorV2));
    if (!tensor) return std::move(tensor).error();
    table.tensors.push_back(*std::move(tensor));
  }
  return table;
}

struct MllmType {
  std::uint32_t id;
  DType dtype;
};

/// Numbers from 65536 on are this toolkit's own; upstream refuses files that have them.
constexpr MllmType kMllmTypes[] = {
    {0, DType::kFloat32},
    {1, DType::kFloat16},
    {2, DType::kGgufQ4_0},
    {8, DType::kGgufQ8_0},
    {10, DType::kGgufQ8PerTensor},
    {12, DType::kGgufQ4K},
    {14, DType::kGgufQ6K},
    {15, DType::kGgufQ8K},
    {16, DType::kInt8},
    {17, DType::kInt16},
    {18, DType::kInt32},
    {19, DType::kGgufQ4_0x4},
    {20, DType::kGgufQ4_0x8},
    {22, DType::kGgufQ8_0x4},
    {23, DType::kGgufQ3K},
    {24, DType::kGgufQ2K},
    {26, DType::kGgufIQ2XXS},
    {128, DType::kBFloat16},
    {129, DType::kUInt8},
    {130, DType::kUInt16},
    {131, DType::kUInt32},
    {132, DType::kInt64},
    {133, DType::kUInt64},
    {134, DType::kByte},
    {135, DType::kMXFP4},
    {136, DType::kInt4},
    {137, DType::kUInt4},
    {140, DType::kInt8PerTensor},
    {141, DType::kInt8PerChannel},
    {142, DType::kUInt8PerTensor},
    {143, DType::kUInt8PerChannel},
    {144, DType::kInt16PerTensor},
    {145, DType::kInt16PerChannel},
    {146, DType::kUInt16PerTensor},
    {147, DType::kUInt16PerChannel},
    {154, DType::kUInt16PerTensorAsym},
    {156, DType::kBool},
    {201, DType::kComplexFP32},
    {202, DType::kComplexFP64},
    {65536, DType::kMirQ4A32},
};

}  // namespace

std::optional<DType> dtype_from_mllm(std::uint32_t id) {
  for (const auto& row : kMllmTypes) {
    if (row.id == id) return row.dtype;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> mllm_dtype_id(DType dtype) {
  for (const auto& row : kMllmTypes) {
    if (row.dtype == dtype) return row.id;
  }
  return std::nullopt;
}

Result<MllmFile> MllmFile::open(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  return parse(*std::move(file));
}

Result<MllmFile> MllmFile::parse(FileBytes file) {
  const auto refuse = [&](std::string_view text) {
    return Error{diag::kMllmMalformed, fmt::format("'{}': {}", file.origin, text)};
  };
  const auto magic = ByteCursor(file.bytes).read<std::uint32_t>();
  if (magic != kMllmMagicV1 && magic != kMllmMagicV2)
    return refuse("the first four bytes are not those of an .mllm file");
  const int version = magic == kMllmMagicV1 ? 1 : 2;
  std::string model_name;
  auto table = version == 1 ? read_table_v1(file.bytes) : read_table_v2(file.bytes, model_name);
  if (!table) return refuse(table.error().message);
  auto tensors =
      MappedTensors::index(std::move(file), std::move(table->tensors),
                           {.data_begin = table->end, .malformed = diag::kMllmMalformed});
  if (!tensors) return std::move(tensors).error();
  MllmFile opened(version, *std::move(tensors));
  opened.model_name_ = std::move(model_name);
  return opened;
}

}  // namespace mir
