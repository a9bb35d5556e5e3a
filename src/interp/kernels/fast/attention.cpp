// note [order]: keys are taken in blocks of kKeyBlock from key 0 on, and blocks in spans of
// kSpanBlocks. Within a span runs the online softmax: the largest score so far m, the sum l of
// e^(s - m), the sum o of e^(s - m) v; a larger m scales l and o down. Spans start afresh and are
// merged in order. A key that a query does not see has the weight 0, which changes no bit of l and
// o, so it does not matter whether a block is visited for the sake of other rows, nor whether spans
// run one after the other or in threads of their own.
//
// note [rows]: rows of a task are query i of each head that shares the key head, then query i + 1.
//
// note [unseen]: 0 times an infinity is not 0. Rows that end up not finite are computed again, one
// by one and from the keys alone that they see.
#include "mir/kernels/fast/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "micro-inl.h"
#include "transpose-inl.h"
#include "vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_ATTENTION_TYPES_
#define MIR_KERNELS_FAST_ATTENTION_TYPES_

namespace mir::fast {

/// Keys of a block: a multiple of every target's panel width.
inline constexpr std::int64_t kKeyBlock = 96;
/// See note [order].
inline constexpr std::int64_t kSpanBlocks = 8;
inline constexpr std::int64_t kSpan = kKeyBlock * kSpanBlocks;

struct KeyRange {
  std::int64_t first;
  std::int64_t end;

  bool is_empty() const { return first >= end; }
};

/// `count` rounded up to a multiple.
inline std::int64_t whole(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Keys that query `query` sees.
inline KeyRange seen_by(const AttentionOperands& o, std::int64_t query) {
  if (!o.causal) return {0, o.keys};
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
  KeyRange seen(std::int64_t row) const { return seen_by(*operands, query(row)); }
  /// What any of `count` rows from `row` on sees; of queries in order the first sees the first key.
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
  float* q;        ///< [rows, width]
  float* scores;   ///< [rows, kKeyBlock]
  float* largest;  ///< [rows], with a block
  float* factors;  ///< [rows], by which sums and o shrink
  float* keys;     ///< a panel, transposed
  float* values;   ///< a panel
};

/// What the rows of a task have of some keys. See note [order]. Rows and columns go in whole
/// vectors.
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
  /// Divides by the sums and stores.
  void (*store)(const AttentionTask& task, const SpanState& all);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

static_assert(kKeyBlock % kPanelWidth == 0);

std::int64_t value_stride(const AttentionOperands& o) {
  return whole(o.value_width, kLanes);
}

/// e^(from - to): what the weights formed with the largest score `from` shrink by; 1 if both are
/// equal.
HWY_INLINE FloatVector shrinkage(FloatVector from, FloatVector to) {
  return hn::IfThenElse(hn::Eq(from, to), hn::Set(Floats(), 1.0F),
                        exp_of_weight(hn::Sub(from, to)));
}

HWY_INLINE void scale_row(float* row, std::int64_t width, float factor) {
  const FloatVector f = hn::Set(Floats(), factor);
  for (std::int64_t i = 0; i < width; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(Floats(), row + i), f), Floats(), row + i);
  }
}

void load_queries(const AttentionTask& task, float* q) {
  const AttentionOperands& o = *task.operands;
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    const float* const from = o.q + task.batch * o.q_strides[0] + task.head(row) * o.q_strides[1] +
                              task.query(row) * o.q_strides[2];
    std::copy_n(from, o.width, q + row * o.width);
  }
}

/// q k of `count` rows against a panel of keys that lies transposed.
HWY_INLINE void multiply_keys(const float* q, std::int64_t count, std::int64_t width,
                              const float* panel, float* scores) {
  for (std::int64_t d = 0; d < width || d == 0; d += kDepthBlock) {
    multiply_rows<kPanelVectors, Fetch::kNothing>(
        static_cast<int>(count), Block<float>{.a = q + d,
                                              .a_row = width,
                                              .a_step = 1,
                                              .b = panel + d * kPanelWidth,
                                              .b_step = kPanelWidth,
                                              .depth = std::min(kDepthBlock, width - d),
                                              .c = scores,
                                              .c_row = kKeyBlock,
                                              .adds = d != 0});
  }
}

/// Products of all rows with the keys of a block that they see; others stay undefined.
void multiply_block_of_keys(const AttentionTask& task, KeyRange block,
                            const AttentionScratch& scratch) {
  const AttentionOperands& o = *task.operands;
  const float* const k = o.k + task.batch * o.k_strides[0] + task.kv_head() * o.k_strides[1];
  const KeyRange all = task.seen(0, task.rows());
  for (std::int64_t key = block.first; key < block.end; key += kPanelWidth) {
    const std::int64_t count = std::min(kPanelWidth, block.end - key);
    if (key >= all.end || key + count <= all.first) continue;
    transpose_rows(k + key * o.k_strides[2], o.k_strides[2], count, o.width, scratch.keys);
    for (std::int64_t row = 0; row < task.rows(); row += kBlockRows) {
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, task.rows() - row);
      const KeyRange seen = task.seen(row, rows);
      if (key >= seen.end || key + count <= seen.first) continue;
      multiply_keys(scratch.q + row * o.width, rows, o.width, scratch.keys,
                    scratch.scores + row * kKeyBlock + (key - block.first));
    }
  }
}

HWY_INLINE float largest_score(const float* scores) {
  FloatVector m = hn::LoadU(Floats(), scores);
  for (std::int64_t i = kLanes; i < kKeyBlock; i += kLanes) {
    m = hn::Max(m, hn::LoadU(Floats(), scores + i));
  }
  return largest_of_lanes(m);
}

/// Products of a row to scores: scaled, masked, -inf for keys that are not seen.
void finish_scores(const AttentionTask& task, std::int64_t row, KeyRange block, KeyRange seen,
                   float* scores) {
  const AttentionOperands& o = *task.operands;
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  const std::int64_t first = std::max(seen.first - block.first, std::int64_t{0});
  const std::int64_t end = std::min(seen.end, block.end) - block.first;
  const FloatVector scale = hn::Set(Floats(), o.scale);
  for (std::int64_t i = 0; i < kKeyBlock; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(Floats(), scores + i), scale), Floats(), scores + i);
  }
  if (o.mask != nullptr) {
    const float* const mask = o.mask + task.batch * o.mask_strides[0] +
                              task.head(row) * o.mask_strides[1] +
                              task.query(row) * o.mask_strides[2] + block.first;
    for (std::int64_t i = first; i < end; i += kLanes) {
      const std::int64_t count = std::min(kLanes, end - i);
      store_first(hn::Add(load_first(scores + i, count), load_first(mask + i, count)), scores + i,
                  count);
    }
  }
  std::fill(scores, scores + first, kUnseen);
  std::fill(scores + end, scores + kKeyBlock, kUnseen);
}

/// Scores to weights e^(s - m), in place; returns their sum. Before the first score above -inf all
/// weights are 0.
HWY_INLINE float weigh(float* scores, float largest) {
  const bool is_nothing = largest == -std::numeric_limits<float>::infinity();
  const FloatVector reference = hn::Set(Floats(), is_nothing ? 0 : largest);
  FloatVector s0 = hn::Zero(Floats()), s1 = s0, s2 = s0;
  const auto next = [&](std::int64_t i) HWY_ATTR {
    const FloatVector e = exp_of_weight(hn::Sub(hn::LoadU(Floats(), scores + i), reference));
    hn::StoreU(e, Floats(), scores + i);
    return e;
  };
  for (std::int64_t i = 0; i < kKeyBlock; i += 3 * kLanes) {
    s0 = hn::Add(s0, next(i));
    s1 = hn::Add(s1, next(i + kLanes));
    s2 = hn::Add(s2, next(i + 2 * kLanes));
  }
  return sum_of_lanes(hn::Add(hn::Add(s0, s1), s2));
}

/// Products to weights for all rows; m and l move on, o shrinks with them. Each step goes over all
/// rows, because within a row each waits for the one before.
void weigh_rows(const AttentionTask& task, KeyRange block, const AttentionScratch& scratch,
                const SpanState& state) {
  const std::int64_t rows = task.rows(), stride = value_stride(*task.operands);
  for (std::int64_t row = 0; row < rows; ++row) {
    float* const scores = scratch.scores + row * kKeyBlock;
    const KeyRange seen = task.seen(row);
    const bool sees = std::max(seen.first, block.first) < std::min(seen.end, block.end);
    scratch.largest[row] = state.largest[row];
    if (sees) {
      finish_scores(task, row, block, seen, scores);
      scratch.largest[row] = std::max(state.largest[row], largest_score(scores));
    } else {  // its neighbours may see keys of the block
      std::fill_n(scores, kKeyBlock, -std::numeric_limits<float>::infinity());
    }
  }
  for (std::int64_t row = 0; row < rows; row += kLanes) {
    const FloatVector factor = shrinkage(hn::LoadU(Floats(), state.largest + row),
                                         hn::LoadU(Floats(), scratch.largest + row));
    hn::StoreU(factor, Floats(), scratch.factors + row);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float sum = weigh(scratch.scores + row * kKeyBlock, scratch.largest[row]);
    state.sums[row] = state.sums[row] * scratch.factors[row] + sum;
    state.largest[row] = scratch.largest[row];
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (scratch.factors[row] != 1) scale_row(state.o + row * stride, stride, scratch.factors[row]);
  }
}

/// The next panel of at most three vectors: four vectors are two and two, not three and one.
HWY_INLINE std::int64_t vectors_of_panel(std::int64_t vectors) {
  return vectors == 4 ? 2 : std::min<std::int64_t>(vectors, kPanelVectors);
}

/// o += weights v for `vectors` vectors of columns and the rows of a block.
void multiply_values(int rows, std::int64_t vectors, const Block<float>& block) {
  switch (vectors) {
    case 3:
      return multiply_rows<3, Fetch::kNothing>(rows, block);
    case 2:
      return multiply_rows<2, Fetch::kNothing>(rows, block);
    default:
      return multiply_rows<1, Fetch::kNothing>(rows, block);
  }
}

/// o += weights v for all rows and a block of keys. A panel of v is copied where many rows read it
/// or where it is not whole vectors wide.
void add_values(const AttentionTask& task, KeyRange block, const AttentionScratch& scratch,
                float* sums) {
  const AttentionOperands& o = *task.operands;
  const std::int64_t stride = value_stride(o);
  const float* const v = o.v + task.batch * o.v_strides[0] + task.kv_head() * o.v_strides[1] +
                         block.first * o.v_strides[2];
  std::int64_t vectors = 0;
  for (std::int64_t column = 0; column < stride; column += vectors * kLanes) {
    vectors = vectors_of_panel((stride - column) / kLanes);
    const std::int64_t width = std::min(vectors * kLanes, o.value_width - column);
    const float* panel = v + column;
    std::int64_t step = o.v_strides[2];
    if (width < vectors * kLanes || task.rows() > 4 * kBlockRows) {
      step = vectors * kLanes;
      for (std::int64_t key = 0; key < block.end - block.first; ++key) {
        const float* const from = v + key * o.v_strides[2] + column;
        for (std::int64_t i = 0; i < width; i += kLanes) {
          hn::StoreU(load_first(from + i, std::min(kLanes, width - i)), Floats(),
                     scratch.values + key * step + i);
        }
      }
      panel = scratch.values;
    }
    for (std::int64_t row = 0; row < task.rows(); row += kBlockRows) {
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, task.rows() - row);
      const KeyRange seen = task.seen(row, rows);
      const std::int64_t first = std::max(seen.first, block.first);
      const std::int64_t end = std::min(seen.end, block.end);
      if (first >= end) continue;
      multiply_values(static_cast<int>(rows), vectors,
                      {.a = scratch.scores + row * kKeyBlock + (first - block.first),
                       .a_row = kKeyBlock,
                       .a_step = 1,
                       .b = panel + (first - block.first) * step,
                       .b_step = step,
                       .depth = end - first,
                       .c = sums + row * stride + column,
                       .c_row = stride,
                       .adds = true});
    }
  }
}

void run_span(const AttentionTask& task, std::int64_t span, const AttentionScratch& scratch,
              const SpanState& state) {
  const AttentionOperands& o = *task.operands;
  const std::int64_t vectors = whole(task.rows(), kLanes);
  std::fill_n(state.largest, vectors, -std::numeric_limits<float>::infinity());
  std::fill_n(scratch.largest, vectors, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sums, vectors, 0.0F);
  std::fill_n(state.o, task.rows() * value_stride(o), 0.0F);
  load_queries(task, scratch.q);
  const KeyRange all = task.seen(0, task.rows());
  const std::int64_t end = std::min((span + 1) * kSpan, all.end);
  for (std::int64_t key = span * kSpan; key < end; key += kKeyBlock) {
    const KeyRange block = {key, std::min(key + kKeyBlock, o.keys)};
    if (block.end <= all.first) continue;
    multiply_block_of_keys(task, block, scratch);
    weigh_rows(task, block, scratch, state);
    add_values(task, block, scratch, state.o);
  }
}

void merge(const AttentionTask& task, const SpanState& more, const SpanState& all) {
  const Floats d;
  const std::int64_t stride = value_stride(*task.operands);
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    const FloatVector old_m = hn::Set(d, all.largest[row]), new_m = hn::Set(d, more.largest[row]);
    all.largest[row] = std::max(all.largest[row], more.largest[row]);
    const FloatVector m = hn::Set(d, all.largest[row]);
    const FloatVector kept = shrinkage(old_m, m), added = shrinkage(new_m, m);
    all.sums[row] = all.sums[row] * hn::GetLane(kept) + more.sums[row] * hn::GetLane(added);
    float* const o = all.o + row * stride;
    for (std::int64_t i = 0; i < stride; i += kLanes) {
      const FloatVector v = hn::Mul(hn::LoadU(d, more.o + row * stride + i), added);
      hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, o + i), kept), v), d, o + i);
    }
  }
}

/// A row of which every score is -inf has the sum 0, so it becomes NaN, as softmax does.
void store(const AttentionTask& task, const SpanState& all) {
  const AttentionOperands& o = *task.operands;
  const std::int64_t stride = value_stride(o);
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    float* const out = task.out(row);
    if (task.seen(row).is_empty()) {
      std::fill_n(out, o.value_width, 0.0F);
      continue;
    }
    const FloatVector inverse = hn::Set(Floats(), 1 / all.sums[row]);
    for (std::int64_t i = 0; i < o.value_width; i += kLanes) {
      const FloatVector v = hn::Mul(hn::LoadU(Floats(), all.o + row * stride + i), inverse);
      // -0 from products that underflow becomes +0: whether it arises depends on unseen keys.
      store_first(hn::Add(v, hn::Zero(Floats())), out + i, std::min(kLanes, o.value_width - i));
    }
  }
}

}  // namespace

constexpr AttentionTable kTable = {.panel_width = kPanelWidth,
                                   .lanes = kLanes,
                                   .run_span = run_span,
                                   .merge = merge,
                                   .store = store};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "chunks.hpp"
#include "target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(AttentionTable);

/// Rows of one task: many, so that a key is transposed seldom.
constexpr std::int64_t kTaskRows = 128;
constexpr std::int64_t kLeastTaskRows = 32;

/// One call of `attention`: how it is cut and where its memory lies.
struct AttentionRun {
  const AttentionOperands& operands;
  const AttentionTable& table;
  Chunks queries = {};  ///< of one head
  std::int64_t spans = 0;
  std::int64_t value_stride = 0;

  AttentionRun(const AttentionOperands& o, const AttentionTable& t, unsigned threads)
      : operands(o),
        table(t),
        spans((o.keys + kSpan - 1) / kSpan),
        value_stride(whole(o.value_width, t.lanes)) {
    std::int64_t rows = kTaskRows;
    do {
      queries = cut(o.queries, std::max<std::int64_t>(rows / group(), 1));
      rows /= 2;
    } while (tasks() < 4 * threads && rows >= kLeastTaskRows);
  }

  std::int64_t group() const { return operands.heads / operands.kv_heads; }
  std::int64_t tasks() const { return queries.count * operands.batches * operands.kv_heads; }
  std::int64_t rows() const { return queries.size * group(); }

  /// Tasks with the same keys one after the other; the last queries, which see most keys, first.
  AttentionTask task(std::int64_t index) const {
    const std::int64_t block = queries.count - 1 - index % queries.count;
    const std::int64_t head = index / queries.count;
    return {.operands = &operands,
            .batch = head / operands.kv_heads,
            .first_head = head % operands.kv_heads * group(),
            .heads = group(),
            .first_query = queries.first(block),
            .queries = queries.length(block)};
  }

  std::int64_t row_vectors() const { return whole(rows(), table.lanes); }
  std::int64_t state_size() const { return whole(2 * row_vectors() + rows() * value_stride, 16); }
  SpanState state(float* memory) const {
    return {memory, memory + row_vectors(), memory + 2 * row_vectors()};
  }

  std::int64_t thread_size() const {
    const std::int64_t panels = (operands.width + kKeyBlock) * table.panel_width;
    return whole(2 * row_vectors() + rows() * (operands.width + kKeyBlock) + panels, 16) +
           2 * state_size();
  }
  /// Two states and the scratch memory of a thread.
  struct Own {
    SpanState all, more;
    AttentionScratch scratch;
  };
  Own own(float* memory) const {
    float* const largest = memory + 2 * state_size();
    float* const factors = largest + row_vectors();
    float* const q = factors + row_vectors();
    float* const scores = q + rows() * operands.width;
    float* const keys = scores + rows() * kKeyBlock;
    return {state(memory),
            state(memory + state_size()),
            {q, scores, largest, factors, keys, keys + operands.width * table.panel_width}};
  }

  /// The spans of a task one after the other.
  void run_spans(const AttentionTask& task, const Own& own) const {
    const KeyRange seen = task.seen(0, task.rows());
    const std::int64_t first = seen.first / kSpan;
    for (std::int64_t span = first; span * kSpan < seen.end; ++span) {
      table.run_span(task, span, own.scratch, span == first ? own.all : own.more);
      if (span != first) table.merge(task, own.more, own.all);
    }
    table.store(task, own.all);
  }

  /// See note [unseen].
  void repeat_rows(const AttentionTask& task, const Own& own) const {
    for (std::int64_t row = 0; row < task.rows() && task.rows() > 1; ++row) {
      const float* const out = task.out(row);
      const auto is_finite = [](float v) { return std::isfinite(v); };
      if (std::all_of(out, out + operands.value_width, is_finite)) continue;
      AttentionTask alone = task;
      alone.first_head = task.head(row);
      alone.first_query = task.query(row);
      alone.heads = alone.queries = 1;
      run_spans(alone, own);
    }
  }
};

/// Few tasks, many keys: spans in threads of their own.
void run_spans_apart(const AttentionRun& run, float* scratch, Context& context) {
  float* const states = scratch + run.thread_size() * context.pool().threads();
  const auto state = [&](std::int64_t index, std::int64_t span) {
    return run.state(states + (index * run.spans + span) * run.state_size());
  };
  context.pool().for_each(run.tasks() * run.spans, [&](std::int64_t task, unsigned thread) {
    const auto own = run.own(scratch + run.thread_size() * thread);
    const std::int64_t index = task / run.spans, span = task % run.spans;
    run.table.run_span(run.task(index), span, own.scratch, state(index, span));
  });
  context.pool().for_each(run.tasks(), [&](std::int64_t index, unsigned thread) {
    const AttentionTask task = run.task(index);
    for (std::int64_t span = 1; span < run.spans; ++span) {
      run.table.merge(task, state(index, span), state(index, 0));
    }
    run.table.store(task, state(index, 0));
    run.repeat_rows(task, run.own(scratch + run.thread_size() * thread));
  });
}

}  // namespace

void attention(const AttentionOperands& operands, Context& context) {
  if (operands.batches * operands.heads * operands.queries * operands.value_width == 0) return;
  const unsigned threads = context.pool().threads();
  const AttentionRun run(operands, tables.at(context.isa()), threads);
  const bool apart = threads > 1 && run.spans > 1 && run.tasks() < 2 * threads;
  const std::int64_t shared = apart ? run.tasks() * run.spans * run.state_size() : 0;
  float* const scratch =
      context.scratch(static_cast<std::size_t>(run.thread_size() * threads + shared)).data();
  if (apart) return run_spans_apart(run, scratch, context);
  context.pool().for_each(run.tasks(), [&](std::int64_t index, unsigned thread) {
    const auto own = run.own(scratch + run.thread_size() * thread);
    run.run_spans(run.task(index), own);
    run.repeat_rows(run.task(index), own);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
