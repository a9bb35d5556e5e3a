#include "ir/call_types.hpp"

#include <algorithm>

#include "mir/context.hpp"

namespace mir {

CallTypes::CallTypes(IRContext& context, const Region& graph, std::span<const Type* const> operands)
    : context_(context) {
  DimTable& dims = context.dims();
  const auto arguments = graph.entry_arguments();
  for (std::size_t i = 0; i < std::min(arguments.size(), operands.size()); ++i) {
    const TensorType* declared = arguments[i].tensor_type();
    const auto* given = dyn_cast<TensorType>(operands[i]);
    if (declared == nullptr || given == nullptr || declared->rank() != given->rank()) continue;
    for (std::size_t dim = 0; dim < declared->rank(); ++dim) {
      const Dim extent = declared->dims()[dim], passed = given->dims()[dim];
      if (!extent.is_symbolic() || extent.is_pack()) continue;
      const auto names = dims.symbols(extent);
      const bool is_alone = names.size() == 1 && dims.symbol(context.text(names[0])) == extent;
      if (!is_alone || find(names[0]) != nullptr) continue;
      symbols_.emplace_back(names[0], passed);
      has_own_symbols_ = has_own_symbols_ || passed != extent;
    }
  }
}

CallTypes CallTypes::of(const Op& call, const Region& graph) {
  std::vector<const Type*> operands;
  for (const Use& use : call.operand_uses()) operands.push_back(use.value()->type());
  return CallTypes(call.module().context(), graph, operands);
}

const Dim* CallTypes::find(Symbol symbol) const {
  const auto found =
      std::ranges::find(symbols_, symbol, [](const auto& each) { return each.first; });
  return found == symbols_.end() ? nullptr : &found->second;
}

Dim CallTypes::at_call(Dim extent) const {
  if (!has_own_symbols_ || !extent.is_symbolic() || extent.is_pack()) return extent;
  return context_.dims().substitute(extent, [&](Symbol symbol) -> std::optional<Dim> {
    const Dim* passed = find(symbol);
    return passed == nullptr ? Dim::unknown() : *passed;
  });
}

const Type* CallTypes::at_call(const Type* type) const {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (!has_own_symbols_ || tensor == nullptr) return type;
  std::vector<Dim> extents;
  for (const Dim extent : tensor->dims()) extents.push_back(at_call(extent));
  if (std::ranges::equal(extents, tensor->dims())) return type;
  return context_.tensor(extents, tensor->dtype_name(), tensor->device(), tensor->encoding());
}

}  // namespace mir
