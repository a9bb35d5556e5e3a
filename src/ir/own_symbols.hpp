// Attributes whose symbols belong to the op that has them.
#pragma once

#include <algorithm>
#include <string_view>

#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/op.hpp"

namespace mir {

/// True if the symbols of an attribute are those that the op, or loops around it, bind, like the
/// loops in the maps of a generic op. They mean nothing in the graph, where the same name is
/// another symbol.
inline bool has_own_symbols(const OpRow* row, std::string_view key, const Attr& value) {
  if (row == nullptr || value.kind() != AttrKind::kArray || value.elements().empty()) return false;
  const bool is_list_of_lists = value.elements().front()->kind() == AttrKind::kArray;
  return std::ranges::any_of(row->attributes, [&](const AttrRow& each) {
    return each.type == (is_list_of_lists ? AttrType::kMaps : AttrType::kMap) && each.name == key;
  });
}

/// True if an attribute of a row is over symbols that the op binds itself: its maps, and the
/// relations between their symbols.
inline bool is_over_own_symbols(const OpRow& row, std::string_view key) {
  const auto is_maps = [](const AttrRow& each) { return each.type == AttrType::kMaps; };
  return std::ranges::any_of(row.attributes, [&](const AttrRow& each) {
    return is_maps(each) &&
           (each.name == key || key == key::kWhere.text || key == key::kBounds.text);
  });
}

}  // namespace mir
