#include "passes/cse/operation_hash.hpp"

#include <functional>
#include <string_view>

#include "mir/equivalence.hpp"
#include "mir/module.hpp"

namespace mir {

std::size_t hash_of_value(const Attr& value) {
  if (value.kind() == AttrKind::kString) return std::hash<std::string_view>()(value.text());
  if (value.kind() == AttrKind::kFloat) return std::hash<double>()(value.number());
  return std::hash<const void*>()(&value);
}

std::size_t hash_of_operation(const Op& op) {
  std::size_t hash = std::hash<Symbol>()(op.op_name().spelling);
  if (op.has_symbol()) hash = combined_hash(hash, std::hash<Symbol>()(op.symbol()));
  if (op.row() == nullptr) return hash;
  for (const AttrRow& row : op.row()->attributes) {
    const Attr* value = effective_attribute(op, row);
    if (value != nullptr) hash = combined_hash(hash, hash_of_value(*value));
  }
  return op.row()->weights.empty() ? hash : combined_hash(hash, std::hash<Symbol>()(op.path()));
}

}  // namespace mir
