// Finds tensors by name across the files of a model.
#include "weights/sharded_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace mir {

Result<ShardedTensors> ShardedTensors::join(std::vector<MappedTensors> shards, DiagCode malformed) {
  ShardedTensors joined;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const StoredTensor& tensor : shards[i].entries()) {
      const auto [earlier, is_new] = joined.shard_by_name_.emplace(tensor.name, i);
      if (!is_new)
        return Error{malformed,
                     fmt::format("'{}': tensor '{}' is in '{}', too", shards[i].file().origin,
                                 tensor.name, shards[earlier->second].file().origin)};
    }
  }
  joined.shards_ = std::move(shards);
  return joined;
}

std::vector<std::string> ShardedTensors::names() const {
  std::vector<std::string> names;
  for (const auto& shard : shards_) std::ranges::move(shard.names(), std::back_inserter(names));
  return names;
}

const MappedTensors* ShardedTensors::shard_of(std::string_view name) const {
  const auto at = shard_by_name_.find(name);
  return at == shard_by_name_.end() ? nullptr : &shards_[at->second];
}

Result<std::optional<Tensor>> ShardedTensors::find(std::string_view name) const {
  const auto* shard = shard_of(name);
  if (shard == nullptr) return std::optional<Tensor>();
  return shard->find(name);
}

}  // namespace mir
