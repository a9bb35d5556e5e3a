// Reports of mllm-weights about files. Every function returns text, none writes it.
#pragma once

#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/weights.hpp"
#include "progress.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {

/// `[2, 3]`
std::string extents_text(const Shape& shape);

/// Name, type, extents and bytes of every tensor, and sums. `metadata`: the pairs of the file, too.
Result<std::string> list_tensors(const std::string& path, const TensorFile& file, bool metadata);

/// Range, mean, deviation and counts of every tensor. `progress` counts tensors, here and below.
Result<std::string> tensor_statistics(const std::string& path, const TensorFile& file,
                                      const Progress& progress = {});

/// Describes the differences of two files; empty if there are none. Blocks are compared by value.
Result<std::string> difference(const TensorFile& before, const TensorFile& after,
                               const Tolerance& tolerance, const Progress& progress = {});

}  // namespace mir::tools
