// Attention in one kernel: scores, what a query sees of the keys, softmax, weighted values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// The operands are of floating types, each of its own.
struct AttentionOperands {
  View q;  ///< [B, Sq, Hq, D]
  View k;  ///< [B, T, Hkv, D]; Hkv divides Hq
  View v;  ///< [B, T, Hkv, Dv]
  /// Key j is row key_rows[j] of k, its value row value_rows[j] of v: both [Skv], Int32 or Int64
  /// in [0, T), or both null: all rows in order, Skv = T.
  const View* key_rows = nullptr;
  const View* value_rows = nullptr;
  const View* mask = nullptr;   ///< [Sq, Skv]; an entry that is not above -1 masks the key
  const View* sinks = nullptr;  ///< [Hq]
  /// [B, Sq] in row-major order; empty: query i is at i + Skv - Sq.
  std::span<const std::int64_t> positions = {};
};

struct AttentionOptions {
  bool causal = true;                  ///< a query sees no later key
  std::optional<std::int64_t> window;  ///< of those, a query sees the last so many; 1 or more
};

/// Query i is at the position of key p = i + Skv - Sq, or at the element of `positions` of its
/// sequence, 0 if that is negative. It sees the keys 0 .. p if `causal`, of
/// these with a window w only p - w + 1 .. p (w needs causal). The score of a key it sees is s_j =
/// sum_d q_d k_jd / sqrt(D), or the lowest finite Float32 where the mask says so and Sq > 1. Query
/// head h reads key and value head floor(h / (Hq / Hkv)). With m the largest score, and the sink c
/// if there is one,
///   w_j = e^(s_j - m) / (sum_j e^(s_j - m) [+ e^(c - m)])     out = sum_j w_j v_j
/// for out [B, Sq, Hq, Dv] and, unless null, weights [B, Hq, Sq, Skv], which are 0 for a key that
/// is not seen. A query that sees no key gives zeros.
///
/// All in double, in the order of d and of j, rounded once on store; keys that are not seen add
/// nothing, whatever they hold. Against a float64 evaluation
///   |error| <= 2^-50 (Skv + D a) max|v| + 0.5 ULP,   a = max(1, max_j sum_d |q_d k_jd|).
Result<void> attention(const AttentionOperands& operands, const AttentionOptions& options,
                       const MutableView& out, const MutableView* weights);

}  // namespace mir::ref
