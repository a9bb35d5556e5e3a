// Comparison of weight files with the parameters of a module.
#pragma once

#include <span>
#include <string>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {

struct MatchCounts {
  std::size_t parameters = 0;
  std::size_t found = 0;      ///< of the right type and extents
  std::size_t different = 0;  ///< of another type or other extents
  std::size_t missing = 0;
  std::size_t unused = 0;  ///< tensors of the files that no parameter names
};

/// Holds the parameters that a module registers to the files, of which later ones win. Errors:
/// missing parameters (with the name that was probably meant), other extents, types that a run
/// would not convert, tensors that nothing uses. Extents of 1 do not count, and a tensor of rank 1
/// fits any parameter with as many elements, as files without extents have no other.
MatchCounts match_weights(Module& module, std::span<const TensorFile> files,
                          Diagnostics& diagnostics);

}  // namespace mir::tools
