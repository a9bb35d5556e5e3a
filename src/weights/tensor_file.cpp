#include "weights/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "weights/byte_cursor.hpp"
#include "weights/checks.hpp"
#include "weights/formats/gguf.hpp"
#include "weights/formats/mllm.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/formats/safetensors_index.hpp"

namespace mir {
namespace {

bool starts_like_safetensors(std::span<const std::byte> bytes) {
  constexpr std::size_t kHeaderLength = 8;
  return bytes.size() > kHeaderLength && bytes[kHeaderLength] == std::byte{'{'};
}

/// A safetensors file has the `{` after the length of its header.
bool starts_like_index(std::span<const std::byte> bytes) {
  const auto text = ByteCursor(bytes).text(std::min<std::size_t>(bytes.size(), 64));
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && !starts_like_safetensors(bytes);
}

/// Calls `use` with the tensors, of whatever kind they are.
template <class Content, class Use>
auto with_tensors(const Content& content, Use use) {
  return std::visit(
      [&](const auto& tensors) {
        if constexpr (std::is_same_v<std::decay_t<decltype(tensors)>,
                                     std::shared_ptr<const ShardedTensors>>)
          return use(*tensors);
        else
          return use(tensors);
      },
      content);
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

Result<TensorFile> TensorFile::open(const std::string& path, const FileOpener& files) {
  auto file = open_file(files, path);
  if (!file) return std::move(file).error();
  if (starts_like_index(file->bytes)) {
    const auto folder = std::filesystem::path(path).parent_path();
    const auto beside = [&](const std::string& name) {
      return map_file((folder / name).string(), MappedFile::Links::kRefuse);
    };
    auto sharded = ShardedTensors::open(*file, files ? files : beside);
    if (!sharded) return std::move(sharded).error();
    return TensorFile(TensorFormat::kSafetensors,
                      std::make_shared<const ShardedTensors>(*std::move(sharded)));
  }
  return parse(*std::move(file));
}

Result<std::vector<std::string>> TensorFile::parts(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  std::vector<std::string> names;
  if (!starts_like_index(file->bytes)) return names;
  const auto shards = parse_safetensors_index(ByteCursor(file->bytes).text(file->bytes.size()));
  if (!shards)
    return Error{shards.error().code, fmt::format("'{}': {}", path, shards.error().message)};
  for (const auto& [tensor, shard] : *shards) {
    if (std::ranges::find(names, shard) == names.end()) names.push_back(shard);
  }
  return names;
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
  return with_tensors(content_, [](const auto& tensors) { return tensors.names(); });
}

bool TensorFile::contains(std::string_view name) const {
  return with_tensors(content_, [&](const auto& tensors) { return tensors.contains(name); });
}

Result<std::vector<TensorInfo>> TensorFile::tensors() const {
  std::vector<TensorInfo> all;
  const auto add = [&](const MappedTensors& mapped) {
    for (const auto& entry : mapped.entries())
      all.push_back({entry.name, entry.dtype, entry.shape, entry.end - entry.begin});
  };
  if (const auto* mapped = std::get_if<MappedTensors>(&content_)) {
    add(*mapped);
    return all;
  }
  if (const auto* sharded = std::get_if<std::shared_ptr<const ShardedTensors>>(&content_)) {
    std::ranges::for_each((*sharded)->shards(), add);
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
  return with_tensors(content_, [&](const auto& tensors) { return tensors.find(name); });
}

}  // namespace mir
