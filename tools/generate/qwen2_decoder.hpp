// A small Qwen2-style decoder as a portable module, and tensors to run it with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/weights.hpp"
#include "weights/named_tensor.hpp"

namespace mir::generate {

struct DecoderShape {
  std::int64_t layers = 2;
  std::int64_t hidden = 64;         ///< E, extent of a token's state
  std::int64_t heads = 4;           ///< H, query heads
  std::int64_t kv_heads = 2;        ///< G, key and value heads; divides H
  std::int64_t head_dim = 16;       ///< D, extent of a head; even; H * D need not equal E
  std::int64_t ffn = 160;           ///< F, extent inside the feed-forward block
  std::int64_t vocab = 256;         ///< V, number of token ids
  std::int64_t max_positions = 64;  ///< rows of the rotary tables, capacity of the caches
  double rope_theta = 1e6;
  double rms_epsilon = 1e-6;
  DType projection_dtype = DType::kFloat32;  ///< of the weights of linear layers
  bool last_logits = false;                  ///< logits of the last token alone, [1, 1, V]
};

/// Returns the error of a shape; no value if a decoder of that shape can be built.
std::optional<std::string> problem_with(const DecoderShape& shape);

/// Adds a portable module `@main(%ids, %positions) -> logits` to the context: ids and positions are
/// [1, $S] Int64, logits [1, $S, V] Float32. Graphs and parameters are named as in checkpoints of
/// the model family (`model.layers.0.self_attn.q_proj`), caches `@cache.layers.<i>`; `$past` is the
/// number of tokens in them. Query, key and value projections have a bias, nothing else has. The
/// shape must have no problem; null when an op could not be made, after reporting why.
Module* build_qwen2_decoder(IRContext& context, const DecoderShape& shape,
                            Diagnostics& diagnostics);

/// Like build_qwen2_decoder(), as graphs of a module without inputs and outputs; the decoder is
/// `@decoder`.
Module* build_qwen2_graphs(IRContext& context, const DecoderShape& shape, Diagnostics& diagnostics);

/// The table `rope.sin.weight` or `rope.cos.weight`, [max_positions, D] Float32: row p holds the
/// sine or cosine of p * theta^(-2i/D) at columns i and D/2 + i, computed in double and rounded
/// once.
enum class RopeTable : std::uint8_t { kSin, kCos };
Result<Tensor> rope_table(RopeTable table, const DecoderShape& shape);

/// Every registered parameter of a module of this shape, in order: the rotary tables by their
/// formula, the others from `source`.
Result<std::vector<NamedTensor>> decoder_weights(const Module& module, const DecoderShape& shape,
                                                 const WeightSource& source);

}  // namespace mir::generate
