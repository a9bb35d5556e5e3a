// note [order]: keys are taken in blocks of kKeyBlock from key 0 on, and blocks in spans of
// kSpanBlocks. Within a span runs the online softmax: the largest score so far m, the sum l of
// e^(s - m), the sum o of e^(s - m) v; a larger m scales l and o down. Spans start with empty sums
// and are merged in order. A key that a query does not see has the weight 0, which changes no bit
// of l and o, so it does not matter whether a block is visited for the sake of other rows, nor
// whether spans run one after the other or in threads of their own.
//
// note [rows]: rows of a task are query i of each head that shares the key head, then query i + 1.
//
// note [unseen]: 0 times an infinity is not 0. Rows that end up not finite are computed again, one
// by one and from the keys alone that they see.
//
// note [hidden]: a mask that overwrites scores with a number leaves the keys their weight where the
// scores that a query sees are no larger. Such rows are computed anew over all keys.
#include "kernels/fast/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/fast/attention_hidden.hpp"
#include "kernels/fast/attention_task.hpp"
#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/matrix/transpose-inl.h"
#include "kernels/fast/vector_math-inl.h"

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

/// Rows of q side by side: as they are where they lie so, otherwise copied to `own`.
const float* load_queries(const AttentionTask& task, float* own) {
  const AttentionOperands& o = *task.operands;
  const auto from = [&](std::int64_t row) {
    return o.q + task.batch * o.q_strides[0] + task.head(row) * o.q_strides[1] +
           task.query(row) * o.q_strides[2];
  };
  if (task.heads == 1 && o.q_strides[2] == o.width) return from(0);
  for (std::int64_t row = 0; row < task.rows(); ++row) {
    std::copy_n(from(row), o.width, own + row * o.width);
  }
  return own;
}

/// A block of keys on its way through the rows of a task. Rows see keys in order, so what later
/// rows see besides is transposed and copied when they come.
struct BlockOfKeys {
  const AttentionTask& task;
  const AttentionScratch& scratch;
  const float* q;
  KeyRange keys;
  const float* k;  ///< of the first key
  const float* v;
  std::int64_t transposed, copied;  ///< keys before these are in the scratch memory
};

/// Some rows of a task and the keys of a block that any of them sees.
struct Chunk {
  std::int64_t first, count;
  KeyRange seen;

  std::int64_t end() const { return first + count; }
};

KeyRange common(KeyRange a, KeyRange b) {
  return {std::max(a.first, b.first), std::min(a.end, b.end)};
}

/// q k of `count` rows against a panel of keys that lies transposed. A function of its own, so that
/// the compiler keeps all of a block in registers.
HWY_NOINLINE void multiply_keys(const float* q, std::int64_t count, std::int64_t width,
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

/// Products of a chunk's rows with the keys that they see; others stay undefined.
void multiply_chunk_of_keys(BlockOfKeys& block, const Chunk& chunk) {
  const AttentionOperands& o = *block.task.operands;
  const std::int64_t first = (chunk.seen.first - block.keys.first) / kPanelWidth * kPanelWidth;
  // The rows of a task that are one chunk read a panel once: all panels at one place stay cached.
  const bool is_reused = block.task.rows() > chunk.count;
  for (std::int64_t j = first; block.keys.first + j < chunk.seen.end; j += kPanelWidth) {
    const std::int64_t key = block.keys.first + j;
    float* const panel = block.scratch.keys + (is_reused ? j * o.width : 0);
    if (key >= block.transposed) {
      transpose_rows(block.k + j * o.k_strides[2], o.k_strides[2],
                     std::min(kPanelWidth, block.keys.end - key), o.width, panel);
      block.transposed = key + kPanelWidth;
    }
    for (std::int64_t row = chunk.first; row < chunk.end(); row += kBlockRows) {
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, chunk.end() - row);
      const KeyRange seen = block.task.seen(row, rows);
      if (key >= seen.end || key + kPanelWidth <= seen.first) continue;
      multiply_keys(block.q + row * o.width, rows, o.width, panel,
                    block.scratch.scores + (row - chunk.first) * kKeyBlock + j);
    }
  }
}

/// Scores of a row from `first` to `end`, whole vectors.
struct ScoreRow {
  float* scores;
  std::int64_t first, end;
};

HWY_INLINE float largest_score(const ScoreRow& row) {
  FloatVector m = hn::LoadU(Floats(), row.scores + row.first);
  for (std::int64_t i = row.first + kLanes; i < row.end; i += kLanes) {
    m = hn::Max(m, hn::LoadU(Floats(), row.scores + i));
  }
  return largest_of_lanes(m);
}

/// Scores, or the number where their entry is 0.
HWY_INLINE FloatVector replace(const ReplacedScores& replaced, FloatVector scores,
                               std::int64_t first, std::int64_t count) {
  const hn::Rebind<std::int32_t, Floats> words;
  const hn::Rebind<std::uint8_t, Floats> bytes;
  std::uint8_t row_end[kLanes] = {};
  const std::uint8_t* kept = replaced.kept + first;
  if (count < kLanes) {
    std::copy_n(kept, count, row_end);
    kept = row_end;
  }
  const auto entries = hn::PromoteTo(words, hn::LoadU(bytes, kept));
  const auto is_zero = hn::RebindMask(Floats(), hn::Eq(entries, hn::Zero(words)));
  return hn::IfThenElse(is_zero, hn::Set(Floats(), replaced.by), scores);
}

/// Products to scores where `weigh` cannot scale them: in place, then the mask is added, or scores
/// are replaced.
void scale_and_mask(const AttentionTask& task, std::int64_t row, KeyRange keys,
                    std::int64_t first_key, float* scores) {
  const AttentionOperands& o = *task.operands;
  const FloatVector scale = hn::Set(Floats(), o.scale);
  const std::int64_t begin = task.batch * o.mask_strides[0] + task.head(row) * o.mask_strides[1] +
                             task.query(row) * o.mask_strides[2] + first_key;
  for (std::int64_t i = keys.first; i < keys.end; i += kLanes) {
    const std::int64_t count = std::min(kLanes, keys.end - i);
    FloatVector s = hn::Mul(load_first(scores + i, count), scale);
    if (o.mask != nullptr) s = hn::Add(s, load_first(o.mask + begin + i, count));
    if (o.replaced.kept != nullptr) s = replace(o.replaced, s, begin + i, count);
    store_first(s, scores + i, count);
  }
}

/// Scores, times `scale`, to weights e^(s - m), in place; returns their sum. Before the first score
/// above -inf all weights are 0.
HWY_INLINE float weigh(const ScoreRow& row, float scale, float largest) {
  const bool is_nothing = largest == -std::numeric_limits<float>::infinity();
  const FloatVector reference = hn::Set(Floats(), is_nothing ? 0 : largest);
  const FloatVector factor = hn::Set(Floats(), scale);
  FloatVector sum = hn::Zero(Floats());
  for (std::int64_t i = row.first; i < row.end; i += kLanes) {
    const FloatVector s = hn::Mul(hn::LoadU(Floats(), row.scores + i), factor);
    const FloatVector e = exp_of_weight(hn::Sub(s, reference));
    hn::StoreU(e, Floats(), row.scores + i);
    sum = hn::Add(sum, e);
  }
  return sum_of_lanes(sum);
}

/// Products of a chunk's rows to weights; m and l move on, o shrinks with them. Each step goes over
/// all rows, because within a row each waits for the one before.
void weigh_chunk(const BlockOfKeys& block, const Chunk& chunk, const SpanState& state) {
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  const AttentionTask& task = block.task;
  const AttentionOperands& o = *task.operands;
  const std::int64_t base = block.keys.first, stride = value_stride(o);
  const std::int64_t first = (chunk.seen.first - base) / kLanes * kLanes;
  const std::int64_t end = whole(chunk.seen.end - base, kLanes);
  const bool is_plain = o.mask == nullptr && o.replaced.kept == nullptr && o.scale > 0;
  const float scale = is_plain ? o.scale : 1;
  HWY_ALIGN float largest[2][whole(kChunkRows, kLanes)] = {};  // so far, now
  HWY_ALIGN float factors[whole(kChunkRows, kLanes)];
  const auto scores_of = [&](std::int64_t i) {
    return ScoreRow{block.scratch.scores + i * kKeyBlock, first, end};
  };
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    const ScoreRow row = scores_of(i);
    KeyRange seen = common(task.seen(chunk.first + i), block.keys);
    if (seen.is_empty()) seen = {base + end, base + end};  // its neighbours may see some
    seen = {seen.first - base, seen.end - base};
    if (!is_plain) scale_and_mask(task, chunk.first + i, seen, base, row.scores);
    std::fill(row.scores + first, row.scores + seen.first, kUnseen);
    std::fill(row.scores + seen.end, row.scores + end, kUnseen);
    largest[0][i] = state.largest[chunk.first + i];
    largest[1][i] = std::max(largest[0][i], scale * largest_score(row));
  }
  for (std::int64_t i = 0; i < chunk.count; i += kLanes) {
    const FloatVector factor =
        shrinkage(hn::Load(Floats(), largest[0] + i), hn::Load(Floats(), largest[1] + i));
    hn::Store(factor, Floats(), factors + i);
  }
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    float& sum = state.sums[chunk.first + i];
    sum = sum * factors[i] + weigh(scores_of(i), scale, largest[1][i]);
    state.largest[chunk.first + i] = largest[1][i];
  }
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    if (factors[i] != 1) scale_row(state.o + (chunk.first + i) * stride, stride, factors[i]);
  }
}

/// Tile sizes of the product with values: vectors of columns per panel, rows per block.
struct ValueTiles {
  std::int64_t vectors;
  std::int64_t rows;
};

/// Three vectors waste less where there are few rows. Panels of two fit more widths.
ValueTiles value_tiles(std::int64_t rows) {
  if (rows <= 2 * kBlockRows) return {kPanelVectors, kBlockRows};
  return {2, kRowsOfBlock<2>};
}

/// The next panel: four vectors are two and two, not three and one.
HWY_INLINE std::int64_t vectors_of_panel(const ValueTiles& tiles, std::int64_t vectors) {
  return vectors == 4 ? 2 : std::min(vectors, tiles.vectors);
}

/// o += weights v for `vectors` vectors of columns and the rows of a block.
HWY_NOINLINE void multiply_values(int rows, std::int64_t vectors, const Block<float>& block) {
  switch (vectors) {
    case 3:
      return multiply_rows<3, Fetch::kNothing>(rows, block);
    case 2:
      return multiply_rows<2, Fetch::kNothing>(rows, block);
    default:
      return multiply_rows<1, Fetch::kNothing>(rows, block);
  }
}

/// `count` rows of `width` columns at `from` side by side, filled up to `vectors` vectors.
template <int kVectors>
HWY_INLINE void copy_panel(const float* from, std::int64_t stride, std::int64_t count,
                           std::int64_t width, float* to) {
  const bool is_full = width >= kVectors * kLanes;
  for (std::int64_t j = 0; j < count; ++j, from += stride, to += kVectors * kLanes) {
    HWY_UNROLL(3)
    for (std::int64_t i = 0; i < kVectors * kLanes; i += kLanes) {
      const FloatVector v =
          is_full ? hn::LoadU(Floats(), from + i)
                  : load_first(from + i, std::clamp(width - i, std::int64_t{0}, kLanes));
      hn::StoreU(v, Floats(), to + i);
    }
  }
}

/// Values of keys up to `end` as panels; the last vector is filled up with zeros.
void copy_values(BlockOfKeys& block, const ValueTiles& tiles, std::int64_t end) {
  const AttentionOperands& o = *block.task.operands;
  const std::int64_t stride = value_stride(o), first = block.copied - block.keys.first;
  std::int64_t vectors = 0;
  for (std::int64_t column = 0; column < stride; column += vectors * kLanes) {
    vectors = vectors_of_panel(tiles, (stride - column) / kLanes);
    const auto copy = vectors == 3 ? copy_panel<3> : vectors == 2 ? copy_panel<2> : copy_panel<1>;
    copy(block.v + first * o.v_strides[2] + column, o.v_strides[2], end - block.copied,
         o.value_width - column,
         block.scratch.values + column * kKeyBlock + first * vectors * kLanes);
  }
  block.copied = std::max(block.copied, end);
}

/// o += weights v for a chunk's rows and the keys that they see. Values are copied to panels where
/// many rows read them or where they are not whole vectors.
void add_values(BlockOfKeys& block, const Chunk& chunk, float* sums) {
  const AttentionTask& task = block.task;
  const AttentionOperands& o = *task.operands;
  const std::int64_t stride = value_stride(o);
  const bool copies = o.value_width < stride || task.rows() > 4 * kBlockRows;
  const ValueTiles tiles = value_tiles(task.rows());
  if (copies) copy_values(block, tiles, chunk.seen.end);
  std::int64_t vectors = 0;
  for (std::int64_t column = 0; column < stride; column += vectors * kLanes) {
    vectors = vectors_of_panel(tiles, (stride - column) / kLanes);
    const float* const panel =
        copies ? block.scratch.values + column * kKeyBlock : block.v + column;
    const std::int64_t step = copies ? vectors * kLanes : o.v_strides[2];
    for (std::int64_t row = chunk.first; row < chunk.end(); row += tiles.rows) {
      const std::int64_t rows = std::min(tiles.rows, chunk.end() - row);
      const KeyRange seen = common(task.seen(row, rows), block.keys);
      if (seen.is_empty()) continue;
      const std::int64_t first = seen.first - block.keys.first;
      multiply_values(static_cast<int>(rows), vectors,
                      {.a = block.scratch.scores + (row - chunk.first) * kKeyBlock + first,
                       .a_row = kKeyBlock,
                       .a_step = 1,
                       .b = panel + first * step,
                       .b_step = step,
                       .depth = seen.end - seen.first,
                       .c = sums + row * stride + column,
                       .c_row = stride,
                       .adds = true});
    }
  }
}

void run_block(const AttentionTask& task, KeyRange keys, const float* q,
               const AttentionScratch& scratch, const SpanState& state) {
  const AttentionOperands& o = *task.operands;
  const KeyRange all = task.seen(0, task.rows());
  const float* const k = o.k + task.batch * o.k_strides[0] + task.kv_head() * o.k_strides[1];
  const float* const v = o.v + task.batch * o.v_strides[0] + task.kv_head() * o.v_strides[1];
  BlockOfKeys block = {.task = task,
                       .scratch = scratch,
                       .q = q,
                       .keys = keys,
                       .k = k + keys.first * o.k_strides[2],
                       .v = v + keys.first * o.v_strides[2],
                       .transposed = keys.first,
                       .copied = std::max(keys.first, all.first)};
  for (std::int64_t row = 0; row < task.rows(); row += kChunkRows) {
    Chunk chunk = {row, std::min(kChunkRows, task.rows() - row), {}};
    chunk.seen = common(task.seen(row, chunk.count), keys);
    if (chunk.seen.is_empty()) continue;
    multiply_chunk_of_keys(block, chunk);
    weigh_chunk(block, chunk, state);
    add_values(block, chunk, state.o);
  }
}

void run_span(const AttentionTask& task, std::int64_t span, const AttentionScratch& scratch,
              const SpanState& state) {
  const AttentionOperands& o = *task.operands;
  std::fill_n(state.largest, task.rows(), -std::numeric_limits<float>::infinity());
  std::fill_n(state.sums, task.rows(), 0.0F);
  std::fill_n(state.o, task.rows() * value_stride(o), 0.0F);
  const float* const q = load_queries(task, scratch.q);
  const KeyRange all = task.seen(0, task.rows());
  const std::int64_t end = std::min((span + 1) * kSpan, all.end);
  for (std::int64_t key = span * kSpan; key < end; key += kKeyBlock) {
    const KeyRange keys = {key, std::min(key + kKeyBlock, o.keys)};
    if (keys.end > all.first) run_block(task, keys, q, scratch, state);
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
bool store(const AttentionTask& task, const SpanState& all) {
  const AttentionOperands& o = *task.operands;
  FloatVector check = hn::Zero(Floats());  // a NaN once something is not finite
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
      store_results(hn::Add(v, hn::Zero(Floats())), out + i, std::min(kLanes, o.value_width - i));
      check = hn::Add(check, hn::Sub(v, v));
    }
  }
  return hn::AllFalse(Floats(), hn::IsNaN(check));
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

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(AttentionTable);

/// Rows of one task: many, so that a key is transposed rarely.
constexpr std::int64_t kTaskRows = 256;
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
    if (!are_positions_sorted()) {
      queries = cut(o.queries, 1);
      return;
    }
    std::int64_t rows = kTaskRows;
    do {
      queries = cut(o.queries, std::max<std::int64_t>(rows / group(), 1));
      rows /= 2;
    } while (tasks() < 4 * threads && rows >= kLeastTaskRows);
  }

  /// True if a task can have consecutive queries.
  bool are_positions_sorted() const {
    const std::int64_t* const all = operands.positions;
    for (std::int64_t batch = 0; batch < operands.batches && all != nullptr; ++batch) {
      const std::int64_t* const own = all + batch * operands.queries;
      // Negative ones are 0.
      const auto is_less = [](std::int64_t a, std::int64_t b) { return a < b && b > 0; };
      if (!std::is_sorted(own, own + operands.queries, is_less)) return false;
    }
    return true;
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

  std::int64_t q_size() const { return whole(rows() * operands.width, 16); }
  std::int64_t keys_size() const { return whole(kKeyBlock * operands.width, 16); }
  std::int64_t thread_size() const {
    return 2 * state_size() + q_size() + kChunkRows * kKeyBlock + keys_size() +
           kKeyBlock * value_stride;
  }
  /// Two states and the scratch memory of a thread.
  struct Own {
    SpanState all, more;
    AttentionScratch scratch;
  };
  Own own(float* memory) const {
    float* const q = memory + 2 * state_size();
    float* const scores = q + q_size();
    float* const keys = scores + kChunkRows * kKeyBlock;
    return {state(memory), state(memory + state_size()), {q, scores, keys, keys + keys_size()}};
  }

  /// Stores what a task has summed; mends rows that notes [unseen] and [hidden] are about.
  void finish(const AttentionTask& task, const SpanState& all, const Own& own) const {
    std::vector<std::int64_t> hidden;  // before `all` is used again
    for (std::int64_t row = 0; row < task.rows() && operands.hidden; ++row) {
      if (has_hidden_weight(task, row, all.largest[row])) hidden.push_back(row);
    }
    if (!table.store(task, all)) repeat_rows(task, own);
    for (const std::int64_t row : hidden) attend_hidden(task, row);
  }

  /// The spans of a task one after the other.
  void run_spans(const AttentionTask& task, const Own& own) const {
    const KeyRange seen = task.seen(0, task.rows());
    const std::int64_t first = seen.first / kSpan;
    for (std::int64_t span = first; span * kSpan < seen.end; ++span) {
      table.run_span(task, span, own.scratch, span == first ? own.all : own.more);
      if (span != first) table.merge(task, own.more, own.all);
    }
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
      table.store(alone, own.all);
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
    run.finish(task, state(index, 0), run.own(scratch + run.thread_size() * thread));
  });
}

}  // namespace

void attention(const AttentionOperands& operands, Context& context) {
  if (operands.batches * operands.heads * operands.queries * operands.value_width == 0) return;
  const unsigned threads = context.pool().threads();
  const AttentionRun run(operands, tables.at(context.isa()), threads);
  const bool apart = threads > 1 && run.spans > 1 && run.tasks() < 2 * threads;
  const std::int64_t shared = apart ? run.tasks() * run.spans * run.state_size() : 0;
  float* const scratch = context.scratch(run.thread_size() * threads + shared).data();
  if (apart) return run_spans_apart(run, scratch, context);
  context.pool().for_each(run.tasks(), [&](std::int64_t index, unsigned thread) {
    const auto own = run.own(scratch + run.thread_size() * thread);
    run.run_spans(run.task(index), own);
    run.finish(run.task(index), own.all, own);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE
