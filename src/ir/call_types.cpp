// Substitutes the symbols of a graph's types by the extents at a call.
#include "ir/call_types.hpp"

#include <algorithm>

#include "ir/symbol_declarations.hpp"
#include "ir/symbol_scopes.hpp"
#include "ir/type_extents.hpp"
#include "mir/context.hpp"

namespace mir {

template <class Visit>
void CallTypes::for_each_alone(const Type* of_graph, const Type* of_call,
                               const Visit& visit) const {
  const auto* declared = dyn_cast<TensorType>(of_graph);
  const auto* stated = dyn_cast<TensorType>(of_call);
  if (declared == nullptr || stated == nullptr || declared->rank() != stated->rank()) return;
  for (std::size_t dim = 0; dim < declared->rank(); ++dim) {
    const Dim extent = declared->dims()[dim];
    if (const Symbol symbol = symbol_alone(extent)) visit(symbol, stated->dims()[dim], extent);
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
  if (call.module().version() < kSymbolsVersion || graph.first_region() == nullptr) return false;
  if (of(call, *graph.first_region()).has_own_symbols()) return true;
  std::unordered_set<Symbol> found = symbols_found_out_by(graph);
  for (const Value& result : call.results()) {
    if (found.empty()) break;
    for_each_symbol_of(result.type(), call.module().context().dims(),
                       [&](Symbol symbol) { found.erase(symbol); });
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
  if (!has_own_symbols_) return type;
  return with_extents(type, context_, [&](Dim extent) { return at_call(extent); });
}

}  // namespace mir
