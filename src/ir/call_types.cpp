// Substitutes the symbols of a graph's types by the extents at a call.
#include "ir/call_types.hpp"

#include <algorithm>

#include "ir/extent_walk.hpp"
#include "ir/symbol_declarations.hpp"
#include "mir/context.hpp"

namespace mir {

template <class Visit>
void CallTypes::for_each_alone(const Type* of_graph, const Type* of_call,
                               const Visit& visit) const {
  DimTable& dims = context_.dims();
  const auto* declared = dyn_cast<TensorType>(of_graph);
  const auto* stated = dyn_cast<TensorType>(of_call);
  if (declared == nullptr || stated == nullptr || declared->rank() != stated->rank()) return;
  for (std::size_t dim = 0; dim < declared->rank(); ++dim) {
    const Dim extent = declared->dims()[dim];
    if (!extent.is_symbolic() || extent.is_pack()) continue;
    const auto names = dims.symbols(extent);
    const bool is_alone = names.size() == 1 && dims.symbol(context_.text(names[0])) == extent;
    if (is_alone) visit(names[0], stated->dims()[dim], extent);
  }
}

CallTypes::CallTypes(IRContext& context, const Region& graph, std::span<const Type* const> operands,
                     std::span<const Type* const> results)
    : context_(context) {
  const auto arguments = graph.entry_arguments();
  for (std::size_t i = 0; i < std::min(arguments.size(), operands.size()); ++i) {
    for_each_alone(arguments[i].type(), operands[i], [&](Symbol symbol, Dim passed, Dim extent) {
      if (!extents_.try_emplace(symbol, passed).second) return;
      symbols_.emplace_back(symbol, passed);
      has_own_symbols_ = has_own_symbols_ || passed != extent;
    });
  }
  const auto returned = graph.result_types();
  for (std::size_t i = 0; i < std::min(returned.size(), results.size()); ++i) {
    for_each_alone(returned[i], results[i], [&](Symbol symbol, Dim stated, Dim extent) {
      if (!extents_.contains(symbol)) has_own_symbols_ = has_own_symbols_ || stated != extent;
    });
  }
}

CallTypes CallTypes::of(const Op& call, const Region& graph) {
  std::vector<const Type*> operands, results;
  for (const Use& use : call.operand_uses()) operands.push_back(use.value()->type());
  for (const Value& result : call.results()) results.push_back(result.type());
  return CallTypes(call.module().context(), graph, operands, results);
}

bool CallTypes::are_own(const Op& call, const Op& graph) {
  if (call.module().version() < kSymbolsVersion) return false;
  if (of(call, *graph.first_region()).has_own_symbols()) return true;
  std::unordered_set<Symbol> found = symbols_found_out_by(graph);
  for (const Value& result : call.results()) {
    if (found.empty()) break;
    if (result.tensor_type() == nullptr) continue;
    for (const Dim extent : result.tensor_type()->dims()) {
      for (const Symbol symbol : call.module().context().dims().symbols(extent))
        found.erase(symbol);
    }
  }
  return !found.empty();
}

Dim CallTypes::at_call(Dim extent) const {
  if (!has_own_symbols_ || !extent.is_symbolic() || extent.is_pack()) return extent;
  return context_.dims().substitute(extent, [&](Symbol symbol) -> std::optional<Dim> {
    const auto passed = extents_.find(symbol);
    return passed == extents_.end() ? Dim::unknown() : passed->second;
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
