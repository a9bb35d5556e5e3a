// Operands of fast attention for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fast_problem.hpp"
#include "kernels/fast/attention.hpp"

namespace mir::fast::test {

/// What is added to scores, or replaces them: by a number, or by -inf in whole blocks of keys.
enum class MaskKind : std::uint8_t { kNone, kFinite, kPadding, kReplaced, kHides };

inline constexpr float kScale = 0.37F;

struct AttentionShape {
  std::int64_t batches = 1, heads = 1, kv_heads = heads, queries = 1, keys = 1;
  std::int64_t width = 1, value_width = 1;
  bool causal = false;
  std::optional<std::int64_t> window = {};
  MaskKind mask = MaskKind::kNone;
};

/// Random operands; q, k and v are [batches, rows, heads, width] in memory, the output is [batches,
/// heads, queries, value_width]; one mask [queries, keys] for all batches and heads is added, one
/// for each of them replaces scores.
struct AttentionCase {
  explicit AttentionCase(const AttentionShape& of);

  std::size_t out_size() const;
  AttentionOperands operands(float* out) const;

  AttentionShape shape;
  FloatValues q, k, v, mask;
  std::vector<std::uint8_t> kept;  ///< [batches, heads, queries, keys]
};

}  // namespace mir::fast::test
