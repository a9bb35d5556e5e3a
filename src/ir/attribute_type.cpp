#include <algorithm>

#include "mir/attribute.hpp"
#include "mir/dtype.hpp"
#include "mir/op_row.hpp"

namespace mir {

namespace {

bool all_elements(const Attr& value, auto&& accepts) {
  return value.kind() == AttrKind::kArray &&
         std::all_of(value.elements().begin(), value.elements().end(),
                     [&](const Attr* element) { return accepts(*element); });
}

bool is_extent(const Attr& value) {
  return value.kind() == AttrKind::kInt || value.kind() == AttrKind::kDim;
}

}  // namespace

bool admits(AttrType type, const Attr& value) {
  switch (type) {
    case AttrType::kInt:
      return value.kind() == AttrKind::kInt;
    case AttrType::kFloat:
      return value.kind() == AttrKind::kInt || value.kind() == AttrKind::kFloat;
    case AttrType::kBool:
      return value.kind() == AttrKind::kBool;
    case AttrType::kString:
    case AttrType::kDevice:
      return value.kind() == AttrKind::kString;
    case AttrType::kSymbolRef:
      return value.kind() == AttrKind::kSymbolRef;
    case AttrType::kDims:
      return all_elements(value, is_extent);
    case AttrType::kInts:
      return all_elements(value, [](const Attr& each) { return each.kind() == AttrKind::kInt; });
    case AttrType::kDim:
      return is_extent(value);
    case AttrType::kDType:
      return value.kind() == AttrKind::kString && dtype_from_name(value.text()).has_value();
    case AttrType::kSlices:
      return all_elements(value, [](const Attr& each) {
        const bool all = each.kind() == AttrKind::kString && each.text() == "all";
        return all || each.kind() == AttrKind::kDict || each.kind() == AttrKind::kInt;
      });
    case AttrType::kDict:
      return value.kind() == AttrKind::kDict || value.kind() == AttrKind::kNull;
    case AttrType::kAny:
      return true;
  }
  return true;
}

}  // namespace mir
