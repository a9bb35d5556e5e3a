#include "plan/work.hpp"

#include <algorithm>

#include "eval/attributes.hpp"
#include "eval/parameters.hpp"

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

double product_flop(const Op& op, std::span<const TensorExtents> operands,
                    std::span<const TensorExtents> results, const ParameterTable& parameters) {
  if (results.empty()) return 0;
  const TensorExtents& result = results.front();
  if (op.has(Trait::kWeighsOperand)) return weight_flop(op, result, parameters);
  if (op.is(OpId::kLinalgMatMul) && operands.size() == 2) {
    const bool transposed = AttributeReader(op).boolean("transpose_a");
    return 2 * elements_of(result.shape) * extent(operands[0], transposed ? 2 : 1);
  }
  if (op.is(OpId::kLinalgFlashAttention2) && operands.size() == 3 &&
      operands[0].shape.size() == 4 && operands[1].shape.size() == 4) {
    const auto &q = operands[0].shape, &k = operands[1].shape;
    const double pairs = attention_pairs(q[1], k[1], AttributeReader(op).boolean("causal_mask"));
    return 4 * static_cast<double>(q[0] * q[2] * q[3]) * pairs;
  }
  return 0;
}

}  // namespace

double bytes_of(const TensorExtents& tensor) {
  const DTypeInfo& type = info(tensor.dtype);
  return elements_of(tensor.shape) * type.unit_bytes / type.lanes;
}

double attention_pairs(std::int64_t queries, std::int64_t keys, bool causal) {
  const auto q = static_cast<double>(queries), k = static_cast<double>(keys);
  return causal ? q * k - q * (q - 1) / 2 : q * k;
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
