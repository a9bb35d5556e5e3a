// The header of a GGUF file: metadata and the list of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weights/formats/gguf.hpp"

namespace mir {

inline constexpr std::uint64_t kGgufDefaultAlignment = 32;

struct GgufHeader {
  std::vector<GgufMetadata> metadata;
  std::vector<StoredTensor> tensors;  ///< ranges counted from the start of the file
  std::uint64_t alignment = kGgufDefaultAlignment;
  std::uint64_t data_begin = 0;
};

/// Reads and checks everything up to the data, but not whether ranges fit the file. The error's
/// message lacks the file's name.
Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes);

}  // namespace mir
