// Hashes ops so that equivalent ops have equal hashes.
#include "passes/cse/operation_hash.hpp"

#include <algorithm>
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

namespace {

/// Independent of the order of the attributes. Those that only state a default count as missing.
std::size_t hash_of_attributes(const Op& op) {
  const auto row = op.module().context().row_attributes(op.op_name());
  std::size_t sum = 0;
  for (const NamedAttr& each : op.attributes()) {
    const auto of = std::ranges::find(row, each.key, &RowAttribute::key);
    if (of == row.end()) continue;
    const bool is_default =
        of->by_default != nullptr && are_same_value(*each.value, *of->by_default);
    if (is_default) continue;
    sum += combined_hash(std::hash<Symbol>()(each.key), hash_of_value(*each.value));
  }
  return sum;
}

}  // namespace

std::size_t hash_of_operation(const Op& op) {
  std::size_t hash = std::hash<Symbol>()(op.op_name().spelling);
  if (op.has_symbol()) hash = combined_hash(hash, std::hash<Symbol>()(op.symbol()));
  if (op.row() == nullptr) return hash;
  hash = combined_hash(hash, hash_of_attributes(op));
  return op.row()->weights.empty() ? hash : combined_hash(hash, std::hash<Symbol>()(op.path()));
}

}  // namespace mir
