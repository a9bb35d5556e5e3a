// The index of a model that is split into several safetensors files.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "weights/mapped_tensors.hpp"

namespace mir {

/// Which file has which tensor: `{"metadata": {...}, "weight_map": {"<tensor>": "<file>", ...}}`. A
/// file is named by a plain name in the folder of the index: no separators, no `.` or `..`, nothing
/// that begins with a dot. The error's message lacks the index's name.
Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view json);

/// Several files as one. Every tensor of the index must be in its file, and every tensor of a file
/// in the index.
class ShardedTensors {
 public:
  /// Opens the files that the index `file` names, which are plain names of files in one folder.
  static Result<ShardedTensors> open(const FileBytes& file, const FileOpener& open_shard);

  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return shard_of(name) != nullptr; }
  Result<std::optional<Tensor>> find(std::string_view name) const;
  /// One after the other, in the order of the files' names.
  const std::vector<MappedTensors>& shards() const { return shards_; }

 private:
  ShardedTensors() = default;
  const MappedTensors* shard_of(std::string_view name) const;

  std::vector<MappedTensors> shards_;
  std::map<std::string, std::size_t, std::less<>> shard_by_name_;
};

}  // namespace mir
