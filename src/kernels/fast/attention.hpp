// Softmax attention in one pass over the keys, on Float32; no matrix of scores is stored.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// Scores that a number replaces, whatever they are.
struct ReplacedScores {
  const std::uint8_t* kept = nullptr;  ///< [batches, heads, queries, keys], 0: replaced; or null
  float by = 0;
};

/// Strides count elements; elements of the last dimension (width, value_width) are consecutive.
struct AttentionOperands {
  const float* q = nullptr;      ///< [batches, heads, queries, width]
  const float* k = nullptr;      ///< [batches, kv_heads, keys, width]
  const float* v = nullptr;      ///< [batches, kv_heads, keys, value_width]
  float* out = nullptr;          ///< [batches, heads, queries, value_width]
  const float* mask = nullptr;   ///< added to the scores: [batches, heads, queries, keys]; or null
  ReplacedScores replaced = {};  ///< without mask
  std::int64_t batches = 0, heads = 0, kv_heads = 0;  ///< kv_heads divides heads
  std::int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  std::int64_t q_strides[3] = {};  ///< of batches, heads, queries
  std::int64_t k_strides[3] = {};  ///< of batches, kv_heads, keys
  std::int64_t v_strides[3] = {};
  std::int64_t out_strides[3] = {};
  /// Strides of batches, heads and queries in `mask` or `replaced`; 0 along a repeated dimension.
  std::int64_t mask_strides[3] = {};
  float scale = 1;
  bool causal = false;                      ///< query i sees keys 0 .. i + keys - queries
  std::optional<std::int64_t> window = {};  ///< of those the last so many; needs causal
  /// [batches, queries]: with causal, the query sees keys up to this one, 0 if it is negative.
  /// If null, positions follow from the numbers of queries and keys.
  const std::int64_t* positions = nullptr;
  /// Score of keys that a query does not see, as CausalMask writes it; must be empty with a mask.
  /// If empty, these keys have no weight, whatever the other scores are.
  std::optional<float> hidden = {};
};

/// out = softmax(scale q k^T + mask) v over the keys that a query sees. Query head h reads key head
/// floor(h / (heads / kv_heads)). A query that sees no key gives zeros; one of which all scores are
/// -inf, or one is NaN or +inf, gives NaN. Keys that a query does not see add nothing, whatever
/// they hold, unless `hidden` gives them weight: its scores are all near that number or below. With
/// a = max_j (|mask_j| + |scale| sum_d |q_d k_jd|) over finite scores
///   |error| <= 2^-24 (2 a (width + 8) + 256 + keys / 16) max|v|,
/// where |mask_j| stands for the magnitude of a score that is replaced, too.
/// Keys are taken in blocks of a fixed number, so a query's bits depend neither on how many other
/// queries there are nor on the number of threads: prefill and decoding give the same.
void attention(const AttentionOperands& operands, Context& context);

}  // namespace mir::fast
