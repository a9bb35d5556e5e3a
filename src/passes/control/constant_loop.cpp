// Reads constant conditions and loop bounds.
#include "passes/control/constant_loop.hpp"

#include "eval/parameters.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"
#include "passes/inline/single_exit.hpp"

namespace mir {

std::optional<std::int64_t> constant_element(const Value& value) {
  const TensorType* type = value.tensor_type();
  if (!constant_of(value) || value.has_symbol() || type == nullptr || !type->dtype()) return {};
  const auto tensor = constant_tensor(value);
  if (!tensor || tensor->elements() != 1) return std::nullopt;
  switch (tensor->dtype()) {
    case DType::kBool:
      return tensor->as<std::uint8_t>().front() != 0 ? 1 : 0;
    case DType::kInt32:
      return tensor->as<std::int32_t>().front();
    case DType::kInt64:
      return tensor->as<std::int64_t>().front();
    default:
      return std::nullopt;
  }
}

std::optional<LoopRange> constant_range(const Op& loop) {
  if (!loop.is(OpId::kCfFor) || loop.operand_count() < 3) return std::nullopt;
  const auto first = constant_element(*loop.operand(0)), last = constant_element(*loop.operand(1)),
             step = constant_element(*loop.operand(2));
  if (!first || !last || !step || *step <= 0) return std::nullopt;
  LoopRange range{.first = *first, .step = *step};
  if (*first < *last) {
    const auto distance = static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first);
    range.count = (distance - 1) / static_cast<std::uint64_t>(*step) + 1;
  }
  return range;
}

bool may_leave_regions(const Op& op) {
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    if (single_exit(region) == nullptr) return false;
  }
  return symbols_bound_in(op).empty();
}

}  // namespace mir
