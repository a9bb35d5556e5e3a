// Finds tables of embeddings whose rows can be converted when they are read.
#include "plan/stored_table.hpp"

#include <algorithm>

#include "mir/op_id.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

std::optional<Tensor> stored_table(const Op& op, const ParameterSource& parameters) {
  constexpr DType kNarrower[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3,
                                 DType::kFloat8E5M2};
  if (!op.is(OpId::kLinalgEmbedding) || !owns_parameter(op, ".weight")) return std::nullopt;
  const auto origin = parameters.origin(owned_symbol(op, ".weight"));
  const bool is_narrower =
      origin && origin->dtype == DType::kFloat32 && dtype_of(*op.result()) == DType::kFloat32 &&
      std::ranges::find(kNarrower, origin->stored.dtype()) != std::end(kNarrower) &&
      origin->stored.elements() == origin->elements;
  if (!is_narrower) return std::nullopt;
  return origin->stored;
}

}  // namespace mir
