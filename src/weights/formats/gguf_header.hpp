// The header of a GGUF file: metadata and the list of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
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

/// True if a pair can have this key: visible ASCII, at most 65535 bytes.
bool is_gguf_key(std::string_view text);

/// Reads and checks everything up to the data, but not whether ranges fit the file. The error's
/// message lacks the file's name.
Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes);

}  // namespace mir
