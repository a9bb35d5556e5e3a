// Rules of rotary embeddings, caches and attention.
#include "dialects/rules_support.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::rules {

namespace {

/// Operand `index` with floating elements and rank 4.
const TensorType* heads(InferContext& op, std::size_t index) {
  const TensorType* tensor = ranked(op, index, 4);
  return tensor != nullptr && takes(op, index, *tensor, Elements::kFloating) ? tensor : nullptr;
}

/// A table [B or 1, S, W] or [S, W] for `length` positions with at least `half` columns.
bool expect_table(InferContext& op, std::size_t index, Dim batch, Dim length, Dim half) {
  op.constraint("rope_c4");
  const TensorType* table = ranked(op, index, 2, 3);
  if (table == nullptr || !takes(op, index, *table, Elements::kFloating)) return false;
  const Shape shape = shape_of(*table);
  const std::size_t row = shape.size() - 2;
  if (!expect_extent(op, index, shape, row, length, "a table of length")) return false;
  if (row == 1 && shape[0] != Dim(1) &&
      !expect_extent(op, index, shape, 0, batch, "tables for batch")) {
    return false;
  }
  const Dim width = shape[row + 1];
  op.run_needs_at_least(width, half);
  if (!width.is_constant() || !half.is_constant() || width.constant() >= half.constant()) {
    return true;
  }
  return mismatch(op, diag::kShapeMismatch,
                  fmt::format("tables of at least {} columns", half.constant()), show(op, shape));
}

/// The common part of the three rotary embeddings; partial -1 rotates whole heads.
bool rotary(InferContext& op, std::string_view layout, std::int64_t partial) {
  op.constraint("rope_c1");
  const TensorType* x = heads(op, 0);
  op.constraint("rope_c2");
  const TensorType* sin = op.operand(1);
  const TensorType* cos = op.operand(2);
  if (x == nullptr || sin == nullptr || cos == nullptr ||
      !expect_choice(op, key::kInputType, layout)) {
    return false;
  }
  const Shape shape = shape_of(*x);
  const Dim length = shape[layout == "BHSD" ? 2 : 1], head = shape[3];
  const Dim rotated = partial == -1 ? head : Dim(partial);
  op.constraint("rope_c3");
  const bool is_odd = rotated.is_constant() && rotated.constant() % 2 != 0;
  if (is_odd || !op.may_be_at_least(head, rotated) || !op.may_divide(Dim(2), rotated)) {
    return mismatch(op, diag::kShapeMismatch,
                    fmt::format("an even number of rotated elements up to {}", show(op, head)),
                    show(op, rotated));
  }
  const Dim half = op.extents().floor_divide(rotated, Dim(2));
  if (!expect_table(op, 1, shape[0], length, half) ||
      !expect_table(op, 2, shape[0], length, half)) {
    return false;
  }
  op.result(x);
  return true;
}

/// Batch and head extents of k (or v) against those of q, all [B, S, H, D].
bool expect_heads(InferContext& op, const Shape& q, std::size_t index, const Shape& kv) {
  return expect_extent(op, index, kv, 0, q[0], "batch") &&
         expect_divisor(op, "query heads that are a multiple of the key and value heads", q[2],
                        kv[2]);
}

/// The sink logits, one per query head, at operand `index`.
bool expect_sink(InferContext& op, std::size_t index, Dim query_heads) {
  const auto enabled = boolean_or(op, key::kSAuxEnable, false);
  if (!enabled) return false;
  if (op.operand_count() <= index) {
    return !*enabled || mismatch(op, diag::kShapeMismatch,
                                 fmt::format("operand {} where s_aux_enable is true", index),
                                 fmt::format("{} operands", op.operand_count()));
  }
  const TensorType* sink = ranked(op, index, 1);
  return sink != nullptr && takes(op, index, *sink, Elements::kFloating) &&
         expect_extent(op, index, shape_of(*sink), 0, query_heads,
                       "one sink logit per query head,");
}

/// The keys are the end of a sequence of `length`, as far as that is known.
bool expect_sequence(InferContext& op, Dim length, Dim keys) {
  if (op.may_be_at_least(length, keys)) return true;
  return mismatch(op, diag::kShapeMismatch,
                  fmt::format("keys of a sequence of {}", show(op, length)), show(op, keys));
}

/// A store [T, B, kv_head, `extent_key`] at operand `index`.
bool expect_store(InferContext& op, std::size_t index, const Shape& q, AttrKey extent_key) {
  op.constraint("flash_attention2_c1");
  const TensorType* store = heads(op, index);
  if (store == nullptr) return false;
  op.constraint("radix_attention_c2");
  const Shape shape = shape_of(*store);
  return expect_extent(op, index, shape, 1, q[0], "batch") &&
         expect_attribute(op, key::kKvHead, index, shape, 2) &&
         expect_attribute(op, extent_key, index, shape, 3) &&
         expect_divisor(op, "query heads that are a multiple of the key and value heads", q[2],
                        shape[2]);
}

/// Operands 0 to 2, [batch, length, heads, head extent]: values as keys, query heads in groups.
bool expect_grouped_heads(InferContext& op, const Shape& queries, const Shape& keys,
                          const Shape& values) {
  op.constraint("flash_attention2_c2");
  for (std::size_t i = 0; i < 4; ++i) {
    if (!expect_extent(op, 2, values, i, keys[i], "values of the keys' extents, here")) {
      return false;
    }
  }
  return expect_heads(op, queries, 1, keys) &&
         expect_extent(op, 1, keys, 3, queries[3], "keys of the queries' head extent");
}

}  // namespace

bool rope(InferContext& op) {
  op.constraint("rope_c3");
  const auto layout = string_or(op, key::kInputType, "BHSD");
  const auto partial = integer_at_least(op, key::kPartialDim, -1, -1);
  return layout && partial && rotary(op, *layout, *partial);
}

bool multimodal_rope(InferContext& op) {
  const auto layout = string_or(op, key::kInputType, "BHSD");
  return layout && rotary(op, *layout, -1);
}

bool vision_rope(InferContext& op) {
  return rotary(op, "BSHD", -1);
}

bool kv_cache(InferContext& op) {
  op.constraint("kv_cache_c1");
  const TensorType* k = heads(op, 0);
  const TensorType* v = heads(op, 1);
  if (k == nullptr || v == nullptr || !same_elements(op, 0, 1)) return false;
  const auto sequence_first = boolean_or(op, key::kUseFa2, false);
  const auto past = extent_or_unknown(op, key::kPast);
  const auto query_heads = integer_at_least(op, key::kQHead, 1, 1);
  const auto kv_heads = integer_at_least(op, key::kKvHead, 1, 1);
  if (!sequence_first || !past || !query_heads || !kv_heads) return false;
  const std::size_t head = *sequence_first ? 2 : 1, sequence = *sequence_first ? 1 : 2;
  Shape shape = shape_of(*k);
  const Shape values = shape_of(*v);
  for (std::size_t i = 0; i < 4; ++i) {
    if (!expect_extent(op, 1, values, i, shape[i], "values of the keys' extents, here"))
      return false;
  }
  op.constraint("kv_cache_c2");
  if (!expect_attribute(op, key::kKvHead, 0, shape, head) ||
      !expect_attribute(op, key::kHeadDim, 0, shape, 3)) {
    return false;
  }
  op.constraint("kv_cache_c3");
  if (op.attribute(key::kQHead) != nullptr && op.attribute(key::kKvHead) != nullptr &&
      !expect_divisor(op, "q_head that is a multiple of kv_head", Dim(*query_heads),
                      Dim(*kv_heads))) {
    return false;
  }
  shape[sequence] = op.extents().add(*past, shape[sequence]);
  const auto capacity = integer_at_least(op, key::kCapacity, 1, kAllDimensions);
  if (!capacity) return false;
  op.constraint("kv_cache_c4");
  // Positions tell which tokens are padding, so only a run knows the longest sequence.
  if (op.attribute(key::kCapacity) != nullptr && op.operand_count() == 2 &&
      !op.may_be_at_least(Dim(*capacity), shape[sequence])) {
    return mismatch(op, diag::kShapeMismatch, fmt::format("at most {} tokens", *capacity),
                    show(op, shape[sequence]));
  }
  op.constraint("kv_cache_c5");
  if (op.operand_count() > 2 && !expect_positions(op, 2, values[0], values[sequence])) return false;
  return give(op, shape, *k) && give(op, shape, *v);
}

bool flash_attention2(InferContext& op) {
  op.constraint("flash_attention2_c1");
  const TensorType* q = heads(op, 0);
  const TensorType* k = heads(op, 1);
  const TensorType* v = heads(op, 2);
  if (q == nullptr || k == nullptr || v == nullptr || !same_elements(op, 0, 1) ||
      !same_elements(op, 1, 2) || !boolean_or(op, key::kCausalMask, true)) {
    return false;
  }
  const Shape queries = shape_of(*q), keys = shape_of(*k), values = shape_of(*v);
  if (!expect_grouped_heads(op, queries, keys, values)) return false;
  op.constraint("flash_attention2_c3");
  if (!expect_attribute(op, key::kB, 0, queries, 0) ||
      !expect_attribute(op, key::kQHead, 0, queries, 2) ||
      !expect_attribute(op, key::kD, 0, queries, 3) ||
      !expect_attribute(op, key::kKvHead, 1, keys, 2)) {
    return false;
  }
  op.constraint("flash_attention2_c4");
  if (op.operand_count() > 3 && !expect_positions(op, 3, queries[0], queries[1])) return false;
  op.result(q);
  return true;
}

bool swa_sink_attention(InferContext& op) {
  op.constraint("flash_attention2_c1");
  const TensorType* q = heads(op, 0);
  const TensorType* k = heads(op, 1);
  const TensorType* v = heads(op, 2);
  if (q == nullptr || k == nullptr || v == nullptr || !same_elements(op, 0, 1) ||
      !same_elements(op, 1, 2)) {
    return false;
  }
  op.constraint("swa_sink_attention_c1");
  const auto length = extent_or_unknown(op, key::kCurSeqLen);
  if (!integer_at_least(op, key::kSlidingWindow, 1, 1) || !length) return false;
  op.constraint("swa_sink_attention_c2");
  Shape out = shape_of(*q);
  const Shape keys = shape_of(*k), values = shape_of(*v);
  for (std::size_t i = 0; i < 3; ++i) {
    if (!expect_extent(op, 2, values, i, keys[i], "values of the keys' extents, here"))
      return false;
  }
  if (!expect_heads(op, out, 1, keys) ||
      !expect_extent(op, 1, keys, 3, out[3], "keys of the queries' head extent") ||
      !expect_sink(op, 3, out[2])) {
    return false;
  }
  op.constraint("swa_sink_attention_c3");
  if (!expect_sequence(op, *length, keys[1])) return false;
  op.constraint("flash_attention2_c3");
  if (!expect_attribute(op, key::kB, 0, out, 0) || !expect_attribute(op, key::kQHead, 0, out, 2) ||
      !expect_attribute(op, key::kDQK, 0, out, 3) ||
      !expect_attribute(op, key::kKvHead, 1, keys, 2) ||
      !expect_attribute(op, key::kDV, 2, values, 3)) {
    return false;
  }
  out[3] = values[3];
  return give(op, std::move(out), *v);
}

bool paged_attention(InferContext& op) {
  op.constraint("flash_attention2_c1");
  const TensorType* q = heads(op, 0);
  const TensorType* k = heads(op, 1);
  const TensorType* v = heads(op, 2);
  if (q == nullptr || k == nullptr || v == nullptr) return false;
  op.constraint("paged_attention_c1");
  const TensorType* rows = ranked(op, 3, 1);
  if (rows == nullptr || !takes(op, 3, *rows, Elements::kIndex)) {
    return false;
  }
  op.constraint("paged_attention_c2");
  const auto weights = boolean_or(op, key::kNeedAttnWeights, false);
  const auto fuse = boolean_or(op, key::kFuseRope, false);
  const auto impl_type = string_or(op, key::kImplType, "AllFp32");
  const auto repeat_times = integer_at_least(op, key::kHeadRepeatTimes, 1, 1);
  if (!weights || !fuse || !impl_type || !repeat_times ||
      !expect_choice(op, key::kImplType, *impl_type) ||
      !expect_boolean(op, key::kFuseRope, *fuse, false)) {
    return false;
  }
  const Shape queries = shape_of(*q), keys = shape_of(*k), values = shape_of(*v);
  if (!expect_grouped_heads(op, queries, keys, values)) return false;
  op.run_needs_indices(3, keys[1], false);
  op.constraint("paged_attention_c3");
  if (op.attribute(key::kHeadRepeatTimes) != nullptr &&
      !expect_extent(op, 0, queries, 2, op.extents().multiply(keys[2], Dim(*repeat_times)),
                     "key and value heads times head_repeat_times as query heads,")) {
    return false;
  }
  op.constraint("paged_attention_c4");
  const Dim length = shape_of(*rows)[0];
  if (op.operand_count() > 4) {
    const TensorType* mask = ranked(op, 4, 2);
    if (mask == nullptr) return false;
    const Shape masked = shape_of(*mask);
    if (!expect_extent(op, 4, masked, 0, queries[1], "a mask of queries") ||
        !expect_extent(op, 4, masked, 1, length, "a mask of keys")) {
      return false;
    }
  }
  op.constraint("paged_attention_c5");
  if (op.result_count() != (*weights ? 2u : 1u)) {
    return op.fail(
        diag::kResultCountMismatch,
        fmt::format("'{}' with need_attn_weights {} has {}, found {}", op.op_name(), *weights,
                    *weights ? "two results" : "one result", op.result_count()));
  }
  const DType dtype =
      *impl_type == "AllFp32" ? DType::kFloat32 : q->dtype().value_or(DType::kFloat32);
  if (!give(op, queries, dtype, *q)) return false;
  return !*weights || give(op, {queries[0], queries[2], queries[1], length}, dtype, *q);
}

bool radix_attention(InferContext& op) {
  op.constraint("flash_attention2_c1");
  const TensorType* q = heads(op, 0);
  if (q == nullptr) return false;
  op.constraint("radix_attention_c1");
  const TensorType* key_rows = ranked(op, 1, 1);
  const TensorType* value_rows = ranked(op, 2, 1);
  if (key_rows == nullptr || value_rows == nullptr || !takes(op, 1, *key_rows, Elements::kIndex) ||
      !takes(op, 2, *value_rows, Elements::kIndex)) {
    return false;
  }
  Shape out = shape_of(*q);
  const auto value_extent = extent_or_unknown(op, key::kDV);
  if (!value_extent || !expect_extent(op, 2, shape_of(*value_rows), 0, shape_of(*key_rows)[0],
                                      "as many values as keys,")) {
    return false;
  }
  op.leave_open();
  // An address takes the place of the rows and of their store.
  const bool has_stores = op.operand_count() >= 5;
  if (!expect_sink(op, has_stores ? 5 : 3, out[2])) return false;
  op.constraint("flash_attention2_c3");
  if (!expect_attribute(op, key::kB, 0, out, 0) || !expect_attribute(op, key::kQHead, 0, out, 2) ||
      !expect_attribute(op, key::kDQK, 0, out, 3)) {
    return false;
  }
  if (has_stores && (!expect_store(op, 3, out, key::kDQK) || !expect_store(op, 4, out, key::kDV))) {
    return false;
  }
  out[3] = *value_extent;
  return give(op, std::move(out), *q);
}

}  // namespace mir::rules
