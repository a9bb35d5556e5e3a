// Tensors of a model that is stored in several files.
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

/// Several files as one. Copies share the files; reading from several threads is safe.
class ShardedTensors {
 public:
  /// A name that two of the files have is refused with `malformed`.
  static Result<ShardedTensors> join(std::vector<MappedTensors> shards, DiagCode malformed);

  /// In the order of the files.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return shard_of(name) != nullptr; }
  Result<std::optional<Tensor>> find(std::string_view name) const;
  /// The file that has the tensor; null if none has.
  const MappedTensors* shard_of(std::string_view name) const;
  const std::vector<MappedTensors>& shards() const { return shards_; }

 private:
  ShardedTensors() = default;

  std::vector<MappedTensors> shards_;
  std::map<std::string, std::size_t, std::less<>> shard_by_name_;
};

}  // namespace mir
