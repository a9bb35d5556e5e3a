#include "mir/files/tensor_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "byte_cursor.hpp"
#include "checks.hpp"
#include "mir/files/gguf.hpp"
#include "mir/files/mllm.hpp"
#include "mir/files/safetensors.hpp"

namespace mir {
namespace {

bool starts_like_safetensors(std::span<const std::byte> bytes) {
  constexpr std::size_t kLengthBytes = 8;
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'};
}

}  // namespace

std::string_view name_of(TensorFormat format) {
  switch (format) {
    case TensorFormat::kSafetensors:
      return "safetensors";
    case TensorFormat::kNpz:
      return "npz";
    case TensorFormat::kMllm1:
      return "mllm v1";
    case TensorFormat::kMllm2:
      return "mllm v2";
    case TensorFormat::kGguf:
      return "gguf";
  }
  return {};
}

Result<TensorFile> TensorFile::open(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  return parse(*std::move(file));
}

Result<TensorFile> TensorFile::parse(FileBytes file) {
  const auto magic = ByteCursor(file.bytes).read<std::uint32_t>();
  if (magic == kMllmMagicV1 || magic == kMllmMagicV2) {
    auto opened = MllmFile::parse(std::move(file));
    if (!opened) return std::move(opened).error();
    const auto format = opened->version() == 1 ? TensorFormat::kMllm1 : TensorFormat::kMllm2;
    TensorFile tensors(format, opened->tensors());
    if (!opened->model_name().empty()) tensors.metadata_["model_name"] = opened->model_name();
    return tensors;
  }
  if (ByteCursor(file.bytes).text(4) == "GGUF") {
    auto opened = GgufFile::parse(std::move(file));
    if (!opened) return std::move(opened).error();
    TensorFile tensors(TensorFormat::kGguf, opened->tensors());
    tensors.gguf_metadata_ = opened->metadata();
    return tensors;
  }
  if (starts_like_safetensors(file.bytes)) {
    auto opened = SafetensorsFile::parse(std::move(file));
    if (!opened) return std::move(opened).error();
    TensorFile tensors(TensorFormat::kSafetensors, opened->tensors());
    tensors.metadata_ = opened->metadata();
    return tensors;
  }
  if (ByteCursor(file.bytes).text(2) == "PK") {
    auto opened = NpzFile::parse(file.bytes, std::move(file.owner), std::move(file.origin));
    if (!opened) return std::move(opened).error();
    return TensorFile(TensorFormat::kNpz, *std::move(opened));
  }
  return Error{DiagCode::kUnknownTensorFile,
               fmt::format("'{}' is none of a safetensors, NPZ, GGUF and .mllm file", file.origin)};
}

std::vector<std::string> TensorFile::names() const {
  return std::visit([](const auto& content) { return content.names(); }, content_);
}

bool TensorFile::contains(std::string_view name) const {
  return std::visit([&](const auto& content) { return content.contains(name); }, content_);
}

Result<std::vector<TensorInfo>> TensorFile::tensors() const {
  std::vector<TensorInfo> all;
  if (const auto* mapped = std::get_if<MappedTensors>(&content_)) {
    for (const auto& entry : mapped->entries())
      all.push_back({entry.name, entry.dtype, entry.shape, entry.end - entry.begin});
    return all;
  }
  for (const auto& name : names()) {
    const auto tensor = find(name);
    if (!tensor) return tensor.error();
    all.push_back({name, (*tensor)->dtype(), (*tensor)->shape(), (*tensor)->bytes().size()});
  }
  return all;
}

Result<std::optional<Tensor>> TensorFile::find(std::string_view name) const {
  return std::visit([&](const auto& content) { return content.find(name); }, content_);
}

}  // namespace mir
