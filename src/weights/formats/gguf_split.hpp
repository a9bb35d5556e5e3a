// Models that are split into several GGUF files, `NAME-00001-of-00003.gguf` and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "weights/formats/gguf.hpp"
#include "weights/sharded_tensors.hpp"

namespace mir {

/// The metadata of one file of a split model.
struct GgufSplit {
  std::uint64_t number = 0;              ///< `split.no`, from 0 on
  std::uint64_t count = 0;               ///< `split.count`, from 2 on
  std::optional<std::uint64_t> tensors;  ///< of all files, `split.tensors.count`
};

/// Returns no value for a whole model, which states no count or one below 2. Refuses fields that
/// are not numbers.
Result<std::optional<GgufSplit>> gguf_split(const GgufFile& file);

/// Returns the plain names of all files of the model that the file at `path` belongs to. The name
/// of that file must end as `split` specifies.
Result<std::vector<std::string>> gguf_shard_names(const std::string& path, const GgufSplit& split);

struct GgufModel {
  ShardedTensors tensors;
  /// Without `split.*`; of equal keys those of the first file that has them. They borrow the
  /// bytes of `tensors`.
  std::vector<GgufMetadata> metadata;
};

/// Opens all files of a model, given the bytes of the file at `path`, which may be any of them;
/// `open` opens the others by their plain names. Refuses a file of another model.
Result<GgufModel> open_gguf_model(FileBytes file, const std::string& path, const FileOpener& open);

}  // namespace mir
