// The index of a model that is split into several safetensors files.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "weights/sharded_tensors.hpp"

namespace mir {

/// Maps tensor names to file names: `{"metadata": {...}, "weight_map": {"<tensor>": "<file>",
/// ...}}`. A file is named by a plain name in the folder of the index: no separators, no `.` or
/// `..`, nothing that begins with a dot. The error's message lacks the index's name.
Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view json);

/// The files that the index `file` names, which are plain names of files in one folder. Every
/// tensor of the index must be in its file, and every tensor of a file in the index.
Result<ShardedTensors> open_safetensors_index(const FileBytes& file, const FileOpener& open_shard);

}  // namespace mir
