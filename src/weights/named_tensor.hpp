// A tensor and the name it has in a file.
#pragma once

#include <cstddef>
#include <string>

#include "mir/tensor.hpp"

namespace mir {

/// Largest rank that a tensor file may state; larger ones are refused by readers and writers.
inline constexpr std::size_t kMaxFileRank = 32;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace mir
