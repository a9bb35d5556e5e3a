// Decoders of any size, with the layers that mllm-import writes.
#pragma once

#include <cstdint>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir::bench {

/// The config of a Qwen2 model. Logits are those of the last token.
struct DecoderShape {
  std::int64_t layers = 24, hidden = 896, heads = 14, kv_heads = 2, ffn = 4864, vocab = 32000,
               positions = 1024;
  DType linears = DType::kFloat32;  ///< type of the weights of linear layers
};

/// Makes a verified module with the input `%ids` and the output `%logits`. The context has the
/// built-in dialects. Returns null after reporting.
Module* decoder_module(IRContext& context, const DecoderShape& shape, Diagnostics& diagnostics);

}  // namespace mir::bench
