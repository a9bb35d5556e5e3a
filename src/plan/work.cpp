#include "plan/work.hpp"

#include <algorithm>

#include "eval/attributes.hpp"
#include "eval/parameters.hpp"
#include "ir/op_table.hpp"

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

/// Every element of the result is a product of one row of the weight.
double weight_flop(const Op& op, const TensorExtents& result, const ParameterTable& parameters) {
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const auto found = parameters.find(owned.symbol);
    if (owned.suffix != ".weight" || found == parameters.end()) continue;
    const double outputs = op.is(OpId::kLinalgLinear) ? extent(result, 1)
                           : result.shape.size() > 1  ? static_cast<double>(result.shape[1])
                                                      : 0;
    const double depth = outputs > 0 ? static_cast<double>(found->second.elements()) / outputs : 0;
    return 2 * elements_of(result.shape) * depth;
  }
  return 0;
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

double attention_flop(const Op& op, std::span<const TensorExtents> operands) {
  const AttentionRow* row = kAttentions.find(op);
  if (row == nullptr || operands.size() <= std::max(row->keys, row->values)) return 0;
  const auto &q = operands[0].shape, &keys = operands[row->keys].shape;
  const auto& values = operands[row->values].shape;
  if (q.size() != 4 || values.empty() || keys.size() <= row->keys_dim) return 0;
  const double pairs = attention_pairs(q[1], keys[row->keys_dim], sight_of(op));
  return 2 * static_cast<double>(q[0] * q[2]) * pairs * static_cast<double>(q[3] + values.back());
}

double product_flop(const Op& op, std::span<const TensorExtents> operands,
                    std::span<const TensorExtents> results, const ParameterTable& parameters) {
  if (results.empty()) return 0;
  const TensorExtents& result = results.front();
  if (op.has(Trait::kWeighsOperand)) return weight_flop(op, result, parameters);
  if (op.is(OpId::kLinalgMatMul) && operands.size() == 2) {
    const bool transposed = AttributeReader(op).boolean("transpose_a");
    return 2 * elements_of(result.shape) * extent(operands[0], transposed ? 2 : 1);
  }
  return attention_flop(op, operands);
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

Work work_of(const Op& op, std::span<const TensorExtents> operands,
             std::span<const TensorExtents> results, const ParameterTable& parameters) {
  Work work;
  if (op.has(Trait::kSameBytes)) return work;
  work.flop = product_flop(op, operands, results, parameters);
  for (const TensorExtents& tensor : operands) work.bytes += bytes_of(tensor);
  for (const TensorExtents& tensor : results) work.bytes += bytes_of(tensor);
  if (op.is(OpId::kLinalgEmbedding)) {
    for (const TensorExtents& tensor : results) work.bytes += bytes_of(tensor);
    return work;
  }
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const auto found = parameters.find(owned.symbol);
    if (found != parameters.end()) work.bytes += static_cast<double>(found->second.bytes().size());
  }
  return work;
}

}  // namespace mir
