// Tasks that attention is divided into, and their intermediate results. For the order of sums see
// attention.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/fast/attention.hpp"

namespace mir::fast {

/// Keys of a block: a multiple of every target's panel width.
inline constexpr std::int64_t kKeyBlock = 192;
/// See note [order].
inline constexpr std::int64_t kSpanBlocks = 4;
inline constexpr std::int64_t kSpan = kKeyBlock * kSpanBlocks;
/// Rows that go through a block together: so few that their scores, 36 KiB, are still near when
/// they become weights and meet the values.
inline constexpr std::int64_t kChunkRows = 48;

struct KeyRange {
  std::int64_t first;
  std::int64_t end;

  bool is_empty() const { return first >= end; }
};

/// `count` rounded up to a multiple.
constexpr std::int64_t whole(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Keys that query `query` of a batch sees.
inline KeyRange seen_by(const AttentionOperands& o, std::int64_t batch, std::int64_t query) {
  if (!o.causal) return {0, o.keys};
  if (o.positions != nullptr) {
    const std::int64_t position = std::max<std::int64_t>(o.positions[batch * o.queries + query], 0);
    std::int64_t first = 0;
    if (o.window && position >= *o.window) first = std::min(position - *o.window + 1, o.keys);
    return {first, position < o.keys ? position + 1 : o.keys};
  }
  const std::int64_t end = std::max<std::int64_t>(query + o.keys - o.queries + 1, 0);
  return {o.window ? std::max<std::int64_t>(end - *o.window, 0) : 0, end};
}

/// Consecutive queries of some heads that share a key head. See note [rows].
struct AttentionTask {
  const AttentionOperands* operands;
  std::int64_t batch;
  std::int64_t first_head, heads;
  std::int64_t first_query, queries;

  std::int64_t kv_head() const { return first_head / (operands->heads / operands->kv_heads); }
  std::int64_t rows() const { return queries * heads; }
  std::int64_t query(std::int64_t row) const { return first_query + row / heads; }
  std::int64_t head(std::int64_t row) const { return first_head + row % heads; }
  KeyRange seen(std::int64_t row) const { return seen_by(*operands, batch, query(row)); }
  /// Returns the keys that any of `count` rows from `row` on sees. Positions do not decrease within
  /// a task, so the first query sees the first of these keys.
  KeyRange seen(std::int64_t row, std::int64_t count) const {
    return {seen(row).first, seen(row + count - 1).end};
  }
  float* out(std::int64_t row) const {
    return operands->out + batch * operands->out_strides[0] + head(row) * operands->out_strides[1] +
           query(row) * operands->out_strides[2];
  }
};

/// Scratch memory of a thread.
struct AttentionScratch {
  float* q;       ///< [rows, width]
  float* scores;  ///< [kChunkRows, kKeyBlock]
  float* keys;    ///< a block, as panels
  float* values;  ///< a block, as panels
};

/// Partial softmax of the rows of a task over some keys; see note [order]. Rows and columns are
/// padded to whole vectors.
struct SpanState {
  float* largest;  ///< m
  float* sums;     ///< l
  float* o;        ///< [rows, value width]
};

struct AttentionTable {
  std::int64_t panel_width;
  std::int64_t lanes;
  /// The keys of one span, from nothing.
  void (*run_span)(const AttentionTask& task, std::int64_t span, const AttentionScratch& scratch,
                   const SpanState& state);
  /// Adds a span to those before it.
  void (*merge)(const AttentionTask& task, const SpanState& more, const SpanState& all);
  /// Divides by the sums and stores; whether all is finite.
  bool (*store)(const AttentionTask& task, const SpanState& all);
};

}  // namespace mir::fast
