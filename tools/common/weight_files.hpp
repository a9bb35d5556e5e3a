// Files of weights that options and operands name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mir/weights.hpp"
#include "reference.hpp"

namespace mir::tools {

/// Files that `--weights` refers to: one, or none if the weights are generated.
References<std::string> references_of_weights();

/// Opens the sources of `--weights`, of which files are expected to hold tensors.
Result<WeightSet> open_weights(std::span<const std::string> specs, const FileOpener& files);

/// The shards that an index or the first of several GGUF files names, and the files of a folder.
std::vector<std::string> files_behind(const std::string& path);

}  // namespace mir::tools
