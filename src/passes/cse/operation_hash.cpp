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

const AttrRow* attribute_row(const Op& op, std::string_view key) {
  const auto found = std::ranges::find(op.row()->attributes, key, &AttrRow::name);
  return found == op.row()->attributes.end() ? nullptr : &*found;
}

/// True if a stated attribute has the value that it has where it is not stated.
bool is_default(IRContext& context, const Attr& stated, const AttrRow& row) {
  if (row.default_text.empty()) return false;
  const Attr* otherwise = default_value(context, row);
  return otherwise != nullptr && are_same_value(stated, *otherwise);
}

/// Independent of the order of the attributes. Those that only state a default count as missing.
std::size_t hash_of_attributes(const Op& op) {
  IRContext& context = op.module().context();
  std::size_t sum = 0;
  for (const NamedAttr& each : op.attributes()) {
    const AttrRow* row = attribute_row(op, context.text(each.key));
    if (row == nullptr || is_default(context, *each.value, *row)) continue;
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
