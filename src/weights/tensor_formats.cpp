// The table of tensor file formats: detection, readers, writers and the types they hold.
#include "weights/tensor_formats.hpp"

#include <algorithm>

#include "weights/byte_cursor.hpp"
#include "weights/formats/mllm.hpp"
#include "weights/formats/npy_header.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/formats/safetensors_header.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

/// A file without a magic number: `{` follows the length of the header. A file of another format
/// may have that byte there, too, as a GGUF file of 123 tensors has.
bool starts_as_safetensors(std::span<const std::byte> bytes) {
  constexpr std::size_t kHeaderLength = 8;
  if (bytes.size() <= kHeaderLength || bytes[kHeaderLength] != std::byte{'{'}) return false;
  return std::ranges::none_of(tensor_formats(), [&](const TensorFormatRow& row) {
    return row.format != TensorFormat::kSafetensors && row.is_start(bytes);
  });
}

template <std::uint32_t kMagic>
bool starts_with_number(std::span<const std::byte> bytes) {
  return ByteCursor(bytes).read<std::uint32_t>() == kMagic;
}

bool starts_as_archive(std::span<const std::byte> bytes) {
  return ByteCursor(bytes).text(2) == "PK";
}

bool starts_as_gguf(std::span<const std::byte> bytes) {
  return ByteCursor(bytes).text(4) == "GGUF";
}

Result<ReadTensors> read_safetensors(FileBytes file) {
  auto opened = SafetensorsFile::parse(std::move(file));
  if (!opened) return std::move(opened).error();
  return ReadTensors{.tensors = opened->tensors(), .metadata = opened->metadata()};
}

Result<ReadTensors> read_npz(FileBytes file) {
  auto opened = NpzFile::parse(file.bytes, std::move(file.owner), std::move(file.origin));
  if (!opened) return std::move(opened).error();
  return ReadTensors{.tensors = *std::move(opened)};
}

Result<ReadTensors> read_mllm(FileBytes file) {
  auto opened = MllmFile::parse(std::move(file));
  if (!opened) return std::move(opened).error();
  ReadTensors read{.tensors = opened->tensors()};
  if (!opened->model_name().empty()) read.metadata.emplace(kMllmModelName, opened->model_name());
  return read;
}

Result<ReadTensors> read_gguf(FileBytes file) {
  auto opened = GgufFile::parse(std::move(file));
  if (!opened) return std::move(opened).error();
  return ReadTensors{.tensors = opened->tensors(), .gguf_metadata = opened->metadata()};
}

template <auto kNameOf>
bool has_name(DType dtype) {
  return kNameOf(dtype).has_value();
}

constexpr TensorFormatRow kFormats[] = {
    {.format = TensorFormat::kSafetensors,
     .name = "safetensors",
     .ending = "safetensors",
     .is_start = starts_as_safetensors,
     .read = read_safetensors,
     .has_type = has_name<safetensors_name>,
     .write = write_safetensors_plans},
    {.format = TensorFormat::kNpz,
     .name = "npz",
     .ending = "npz",
     .is_start = starts_as_archive,
     .read = read_npz,
     .has_type = has_name<npy_name>,
     .write = write_npz_plans},
    {.format = TensorFormat::kMllm1,
     .name = "mllm v1",
     .ending = "mllm",
     .is_start = starts_with_number<kMllmMagicV1>,
     .read = read_mllm,
     .has_type = has_name<mllm_dtype_id>,
     .write = nullptr},
    {.format = TensorFormat::kMllm2,
     .name = "mllm v2",
     .ending = "mllm",
     .is_start = starts_with_number<kMllmMagicV2>,
     .read = read_mllm,
     .has_type = has_name<mllm_dtype_id>,
     .write = write_mllm_plans},
    {.format = TensorFormat::kGguf,
     .name = "gguf",
     .ending = "gguf",
     .is_start = starts_as_gguf,
     .read = read_gguf,
     .has_type = has_name<gguf_dtype_id>,
     .write = write_gguf_plans},
};
constexpr bool are_in_order() {
  std::size_t number = 0;
  return std::ranges::all_of(kFormats, [&](const TensorFormatRow& row) {
    return static_cast<std::size_t>(row.format) == number++;
  });
}
static_assert(are_in_order());

}  // namespace

std::span<const TensorFormatRow> tensor_formats() {
  return kFormats;
}

}  // namespace mir
