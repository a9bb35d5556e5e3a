// Blocks of GGUF_Q4_K from numbers.
#pragma once

#include <cstdint>

namespace mir {

/// Encodes 256 finite numbers by the reference formula of ggml (docs/weights.md). Returns false if
/// a scale is beyond Float16.
bool encode_q4_k(const float* values, std::uint8_t* block);

}  // namespace mir
