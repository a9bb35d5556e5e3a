// Opens a tensor file of any format, detected by content, alone or with its other parts.
#include "weights/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/paths.hpp"
#include "weights/byte_cursor.hpp"
#include "weights/checks.hpp"
#include "weights/formats/gguf_split.hpp"
#include "weights/formats/safetensors_index.hpp"

namespace mir {
namespace {

/// A safetensors file has the `{` after the length of its header.
bool starts_like_index(std::span<const std::byte> bytes) {
  const auto text = ByteCursor(bytes).text(std::min<std::size_t>(bytes.size(), 64));
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         !row_of(TensorFormat::kSafetensors).is_start(bytes);
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

Result<TensorFile> TensorFile::open(const std::string& path, const FileOpener& files) {
  auto file = open_file(files, path);
  if (!file) return std::move(file).error();
  const bool is_index = starts_like_index(file->bytes);
  const bool is_gguf = row_of(TensorFormat::kGguf).is_start(file->bytes);
  if (!is_index && !is_gguf) return parse(*std::move(file));
  // An index names files; the names of GGUF files follow from the one that the user gave.
  const auto links = is_index ? MappedFile::Links::kRefuse : MappedFile::Links::kFollow;
  const auto in_folder = [&](const std::string& name) {
    return map_file(path_in(folder_of(path), name), links);
  };
  const FileOpener beside = files ? files : in_folder;
  if (is_index) {
    auto sharded = open_safetensors_index(*file, beside);
    if (!sharded) return std::move(sharded).error();
    return TensorFile(TensorFormat::kSafetensors,
                      {.tensors = std::make_shared<const ShardedTensors>(*std::move(sharded))});
  }
  auto model = open_gguf_model(*std::move(file), path, beside);
  if (!model) return std::move(model).error();
  return TensorFile(TensorFormat::kGguf,
                    {.tensors = std::make_shared<const ShardedTensors>(std::move(model->tensors)),
                     .gguf_metadata = std::move(model->metadata)});
}

Result<std::vector<std::string>> TensorFile::parts(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  std::vector<std::string> names;
  if (row_of(TensorFormat::kGguf).is_start(file->bytes)) {
    const auto gguf = GgufFile::parse(*std::move(file));
    if (!gguf) return gguf.error();
    const auto split = gguf_split(*gguf);
    if (!split) return split.error();
    return *split ? gguf_shard_names(path, **split) : names;
  }
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
  for (const TensorFormatRow& row : tensor_formats()) {
    if (!row.is_start(file.bytes)) continue;
    auto read = row.read(std::move(file));
    if (!read) return std::move(read).error();
    return TensorFile(row.format, *std::move(read));
  }
  return Error{diag::kUnknownTensorFile,
               fmt::format("'{}' is none of a safetensors, NPZ, GGUF and .mllm file", file.origin)};
}

std::vector<std::string> TensorFile::names() const {
  return with_tensors(content_.tensors, [](const auto& tensors) { return tensors.names(); });
}

bool TensorFile::contains(std::string_view name) const {
  return with_tensors(content_.tensors,
                      [&](const auto& tensors) { return tensors.contains(name); });
}

Result<std::vector<TensorInfo>> TensorFile::tensors() const {
  std::vector<TensorInfo> all;
  const auto add = [&](const MappedTensors& mapped) {
    for (const auto& entry : mapped.entries())
      all.push_back(
          {entry.name, entry.dtype, entry.shape, entry.end - entry.begin, entry.unread_type});
  };
  if (const auto* mapped = std::get_if<MappedTensors>(&content_.tensors)) {
    add(*mapped);
    return all;
  }
  if (const auto* sharded = std::get_if<std::shared_ptr<const ShardedTensors>>(&content_.tensors)) {
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
  return with_tensors(content_.tensors, [&](const auto& tensors) { return tensors.find(name); });
}

const MappedTensors* TensorFile::mapped(std::string_view name) const {
  if (const auto* sharded = std::get_if<std::shared_ptr<const ShardedTensors>>(&content_.tensors)) {
    return (*sharded)->shard_of(name);
  }
  const auto* only = std::get_if<MappedTensors>(&content_.tensors);
  return only != nullptr && only->contains(name) ? only : nullptr;
}

}  // namespace mir
