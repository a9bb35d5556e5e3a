#include "plan/work.hpp"

#include <algorithm>

#include "eval/attributes.hpp"
#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "plan/fast_ops.hpp"

namespace mir {

namespace {

double elements_of(std::span<const std::int64_t> shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

/// The last extent but `from_end` - 1 others; 0 where there is none.
double extent(const TensorExtents& tensor, std::size_t from_end) {
  const std::size_t rank = tensor.shape.size();
  return from_end <= rank ? static_cast<double>(tensor.shape[rank - from_end]) : 0;
}

double bytes_of(std::span<const TensorExtents> tensors) {
  double bytes = 0;
  for (const TensorExtents& tensor : tensors) bytes += bytes_of(tensor);
  return bytes;
}

/// Ops of attention: how many keys there are, and where the extent of a value is last.
struct AttentionRow {
  OpId op;
  std::size_t keys;      ///< operand whose extent they are
  std::size_t keys_dim;  ///< which of its extents
  std::size_t values;    ///< operand
};
constexpr OpTable kAttentions({
    AttentionRow{OpId::kLinalgFlashAttention2, 1, 1, 2},
    AttentionRow{OpId::kLinalgFlashAttention2SwaSink, 1, 1, 2},
    AttentionRow{OpId::kLinalgPagedAttn, 3, 0, 2},
    AttentionRow{OpId::kLinalgRadixAttnRelax, 1, 0, 4},
    AttentionRow{OpId::kLinalgRadixAttnSwaSink, 1, 0, 4},
});

AttentionSight sight_of(const Op& op) {
  const AttributeReader attributes(op);
  if (op.is(OpId::kLinalgPagedAttn)) return {};
  if (op.is(OpId::kLinalgFlashAttention2)) return {.causal = attributes.boolean("causal_mask")};
  if (attributes.find("sliding_window") == nullptr) return {.causal = true};
  return {.causal = true, .window = attributes.integer("sliding_window")};
}

double attention_flop(const WorkedStep& step) {
  const AttentionRow* row = kAttentions.find(step.op);
  const auto& operands = step.operands;
  if (row == nullptr || operands.size() <= std::max(row->keys, row->values)) return 0;
  const auto &q = operands[0].shape, &keys = operands[row->keys].shape;
  const auto& values = operands[row->values].shape;
  if (q.size() != 4 || values.empty() || keys.size() <= row->keys_dim) return 0;
  const double pairs = attention_pairs(q[1], keys[row->keys_dim], sight_of(step.op));
  return 2 * static_cast<double>(q[0] * q[2]) * pairs * static_cast<double>(q[3] + values.back());
}

}  // namespace

double bytes_of(const TensorExtents& tensor) {
  const DTypeInfo& type = info(tensor.dtype);
  return elements_of(tensor.shape) * type.unit_bytes / type.lanes;
}

double attention_pairs(std::int64_t queries, std::int64_t keys, const AttentionSight& sight) {
  std::int64_t pairs = 0;
  for (std::int64_t query = 0; query < queries; ++query) {
    const std::int64_t next = query + 1 + keys - queries;
    const std::int64_t end = sight.causal ? std::clamp<std::int64_t>(next, 0, keys) : keys;
    pairs += std::min(end, sight.window.value_or(end));
  }
  return static_cast<double>(pairs);
}

Work no_work(const WorkedStep&) {
  return {};
}

Work each_value_once(const WorkedStep& step) {
  Work work{.bytes = bytes_of(step.operands) + bytes_of(step.results)};
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.parameters.find(owned.symbol);
    if (found != step.parameters.end())
      work.bytes += static_cast<double>(found->second.bytes().size());
  }
  return work;
}

Work results_once(const WorkedStep& step) {
  return {.bytes = bytes_of(step.results)};
}

Work results_twice(const WorkedStep& step) {
  return {.bytes = 2 * bytes_of(step.results)};
}

Work each_copied_whole(const WorkedStep& step) {
  return {.bytes = 2 * bytes_of(step.operands)};
}

Work tokens_appended(const WorkedStep& step) {
  return {.bytes = 2 * bytes_of(step.operands)};
}

Work elements_picked(const WorkedStep& step) {
  return {.bytes = bytes_of(step.operands.subspan(1)) + 2 * bytes_of(step.results)};
}

Work rows_taken(const WorkedStep& step) {
  return {.bytes = bytes_of(step.operands) + 2 * bytes_of(step.results)};
}

Work linear_products(const WorkedStep& step) {
  Work work = each_value_once(step);
  work.flop = 2 * elements_of(step.results[0].shape) * extent(step.operands[0], 1);
  return work;
}

Work convolution_products(const WorkedStep& step) {
  Work work = each_value_once(step);
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.parameters.find(owned.symbol);
    if (owned.suffix != ".weight" || found == step.parameters.end()) continue;
    const auto outputs = static_cast<double>(std::max<std::int64_t>(step.results[0].shape[1], 1));
    work.flop = 2 * elements_of(step.results[0].shape) *
                static_cast<double>(found->second.elements()) / outputs;
  }
  return work;
}

Work products_of_operands(const WorkedStep& step) {
  Work work = each_value_once(step);
  const bool transposed = AttributeReader(step.op).boolean("transpose_a");
  work.flop = 2 * elements_of(step.results[0].shape) * extent(step.operands[0], transposed ? 2 : 1);
  return work;
}

Work pairs_of_attention(const WorkedStep& step) {
  Work work = each_value_once(step);
  work.flop = attention_flop(step);
  return work;
}

Work work_of(const WorkedStep& step) {
  const FastOp* const row = find_fast_op(step.op);
  return row == nullptr ? pairs_of_attention(step) : row->work(step);
}

}  // namespace mir
