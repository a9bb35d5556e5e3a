// Opens all files of a split GGUF model and checks that they belong together.
#include "weights/formats/gguf_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/paths.hpp"

namespace mir {
namespace {

constexpr std::string_view kSplitPrefix = "split.";
constexpr std::uint64_t kMaxShards = 99999;  // names have five digits

Error malformed_split(std::string_view origin, std::string_view text) {
  return {diag::kGgufMalformed, fmt::format("'{}': {}", origin, text)};
}

/// Returns no value if the file lacks the key.
Result<std::optional<std::uint64_t>> stated_number(const GgufFile& file, std::string_view key) {
  const auto pair = std::ranges::find(file.metadata(), key, &GgufMetadata::key);
  if (pair == file.metadata().end()) return std::optional<std::uint64_t>();
  const auto number = pair->integer();
  if (number && *number >= 0) return std::optional(static_cast<std::uint64_t>(*number));
  return malformed_split(file.tensors().file().origin,
                         fmt::format("'{}' is {}, expected a number", key, pair->text()));
}

std::string shard_ending(std::uint64_t number, std::uint64_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

/// One file of the model as the others expect it.
Result<GgufFile> open_shard(const std::string& name, std::uint64_t number, const GgufSplit& model,
                            const FileOpener& open) {
  auto bytes = open(name);
  if (!bytes) return std::move(bytes).error();
  auto file = GgufFile::parse(*std::move(bytes));
  if (!file) return file;
  const auto split = gguf_split(*file);
  if (!split) return split.error();
  const auto refuse = [&](const std::string& text) {
    return malformed_split(file->tensors().file().origin, text);
  };
  if (!*split)
    return refuse(
        fmt::format("it is a whole model, expected part {} of {}", number + 1, model.count));
  if ((*split)->number != number || (*split)->count != model.count)
    return refuse(fmt::format("it says it is part {} of {}, expected {} of {}",
                              (*split)->number + 1, (*split)->count, number + 1, model.count));
  if ((*split)->tensors != model.tensors)
    return refuse(
        "it states another number of tensors than the other parts: it is of another model");
  return file;
}

std::vector<GgufMetadata> joined_metadata(const std::vector<GgufFile>& files) {
  std::vector<GgufMetadata> joined;
  std::unordered_set<std::string> keys;
  for (const GgufFile& file : files) {
    for (const GgufMetadata& pair : file.metadata()) {
      if (!pair.key.starts_with(kSplitPrefix) && keys.insert(pair.key).second)
        joined.push_back(pair);
    }
  }
  return joined;
}

Result<GgufModel> join(const std::vector<GgufFile>& files) {
  std::vector<MappedTensors> shards;
  for (const GgufFile& file : files) shards.push_back(file.tensors());
  auto tensors = ShardedTensors::join(std::move(shards), diag::kGgufMalformed);
  if (!tensors) return std::move(tensors).error();
  return GgufModel{*std::move(tensors), joined_metadata(files)};
}

}  // namespace

Result<std::optional<GgufSplit>> gguf_split(const GgufFile& file) {
  const auto count = stated_number(file, "split.count");
  if (!count) return count.error();
  if (count->value_or(0) < 2) return std::optional<GgufSplit>();
  const auto number = stated_number(file, "split.no");
  if (!number) return number.error();
  const auto tensors = stated_number(file, "split.tensors.count");
  if (!tensors) return tensors.error();
  if (!*number || **number >= **count || **count > kMaxShards)
    return malformed_split(file.tensors().file().origin,
                           fmt::format("'split.no' and 'split.count' are {} and {}",
                                       *number ? fmt::format("{}", **number) : "missing", **count));
  return std::optional(GgufSplit{**number, **count, *tensors});
}

Result<std::vector<std::string>> gguf_shard_names(const std::string& path, const GgufSplit& split) {
  std::string stem(file_name_of(path));
  const auto ending = shard_ending(split.number, split.count);
  if (!stem.ends_with(ending))
    return malformed_split(path, fmt::format("it is part {} of {}, but its name does not end in "
                                             "'{}', so the other parts cannot be found",
                                             split.number + 1, split.count, ending));
  stem.resize(stem.size() - ending.size());
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < split.count; ++i)
    names.push_back(stem + shard_ending(i, split.count));
  return names;
}

Result<GgufModel> open_gguf_model(FileBytes file, const std::string& path, const FileOpener& open) {
  auto given = GgufFile::parse(std::move(file));
  if (!given) return std::move(given).error();
  const auto split = gguf_split(*given);
  if (!split) return split.error();
  std::vector<GgufFile> files;
  if (!*split) {
    files.push_back(*std::move(given));
    return join(files);
  }
  const auto names = gguf_shard_names(path, **split);
  if (!names) return names.error();
  std::uint64_t tensors = 0;
  for (std::size_t i = 0; i < names->size(); ++i) {
    auto shard = i == (*split)->number ? Result<GgufFile>(*given)
                                       : open_shard((*names)[i], i, **split, open);
    if (!shard) return std::move(shard).error();
    tensors += shard->tensors().entries().size();
    files.push_back(*std::move(shard));
  }
  if ((*split)->tensors.value_or(tensors) != tensors)
    return malformed_split(path, fmt::format("its {} parts have {} tensors, expected {}",
                                             files.size(), tensors, *(*split)->tensors));
  return join(files);
}

}  // namespace mir
