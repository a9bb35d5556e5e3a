#include "ir/attribute_type.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/tensor.hpp"
#include "mir/type.hpp"

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

std::string_view describe(AttrType type) {
  switch (type) {
    case AttrType::kInt:
      return "an integer";
    case AttrType::kFloat:
      return "a number";
    case AttrType::kBool:
      return "'true' or 'false'";
    case AttrType::kString:
      return "a string";
    case AttrType::kDevice:
      return "a device name";
    case AttrType::kSymbolRef:
      return "an '@symbol'";
    case AttrType::kDims:
      return "an array of extents";
    case AttrType::kInts:
      return "an array of integers";
    case AttrType::kDim:
      return "an extent";
    case AttrType::kDType:
      return "an element type";
    case AttrType::kSlices:
      return "an array of {\"start\":..,\"end\":..,\"step\":..}";
    case AttrType::kDict:
      return "a dictionary";
    case AttrType::kQuantisation:
      return "a QuantSpec or a QuantAnnotation";
    case AttrType::kAny:
      return "a value";
  }
  return "a value";
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
    case AttrType::kQuantisation:
      return value.kind() == AttrKind::kQuantSpec || value.kind() == AttrKind::kQuantAnnotation;
    case AttrType::kAny:
      return true;
  }
  return true;
}

std::string missing_attribute(std::string_view op, const AttrRow& row) {
  return fmt::format("'{}' needs attribute '{}'", op, row.name);
}

std::string wrong_attribute(std::string_view op, const AttrRow& row, const Attr& value) {
  const std::string_view found = value.spelling().empty() ? "empty" : value.spelling();
  return fmt::format("attribute '{}' of '{}' is {}, expected {}", row.name, op, found,
                     describe(row.type));
}

}  // namespace mir
