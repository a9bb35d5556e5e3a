// Symbols and extents in types.
#pragma once

#include <algorithm>
#include <ranges>
#include <vector>

#include "mir/context.hpp"
#include "mir/type.hpp"

namespace mir {

/// Calls `visit` with each symbol of an extent. The arithmetic of a pack is unknown, it has none.
template <class Visit>
void for_each_symbol_of(Dim extent, const DimTable& dims, const Visit& visit) {
  if (extent.is_symbolic() && !extent.is_pack()) std::ranges::for_each(dims.symbols(extent), visit);
}
/// Calls `visit` with each symbol of the extents of a type, once for each extent that has it. Null
/// and types other than tensors have none.
template <class Visit>
void for_each_symbol_of(const Type* type, const DimTable& dims, const Visit& visit) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return;
  for (const Dim extent : tensor->dims()) for_each_symbol_of(extent, dims, visit);
}

/// Returns the symbol that an extent is, and the empty one for any other expression.
Symbol symbol_alone(Dim extent);  // extent_walk.cpp

/// Returns a type with `replace(extent)` in place of each extent. Null and types other than tensors
/// stay.
template <class Replace>
const Type* with_extents(const Type* type, IRContext& context, const Replace& replace) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return type;
  std::vector<Dim> extents;
  for (const Dim extent : tensor->dims()) extents.push_back(replace(extent));
  if (std::ranges::equal(extents, tensor->dims())) return type;
  return context.tensor(extents, tensor->dtype_name(), tensor->device(), tensor->encoding());
}

}  // namespace mir
