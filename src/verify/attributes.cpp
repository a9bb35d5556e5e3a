#include <algorithm>
#include <array>

#include "checks.hpp"
#include "mir/support/dtype.hpp"

namespace mir::checks {

namespace {

bool all_elements(const Attr& value, auto&& accepts) {
  return value.kind() == AttrKind::kArray &&
         std::all_of(value.elements().begin(), value.elements().end(),
                     [&](const Attr* element) { return accepts(*element); });
}

bool is_extent(const Attr& value) {
  return value.kind() == AttrKind::kInt || value.kind() == AttrKind::kDim;
}

bool fits(AttrType type, const Attr& value) {
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
      return value.kind() == AttrKind::kDict;
    case AttrType::kAny:
      return true;
  }
  return true;
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
    case AttrType::kAny:
      return "a value";
  }
  return "a value";
}

/// Keys that any op may carry: what upstream's passes attach.
bool is_annotation(std::string_view key) {
  constexpr std::array<std::string_view, 6> kAnnotations = {
      "quant_recipe", "using_qnn", "qnn_graph_name", "qnn_context_name", "symbol", "qnn_recipe"};
  return std::find(kAnnotations.begin(), kAnnotations.end(), key) != kAnnotations.end();
}

}  // namespace

void attributes(const Op& op, Diagnostics& diagnostics) {
  const OpRow* row = op.row();
  if (row == nullptr) return;
  for (const NamedAttr& attribute : op.attributes()) {
    const std::string_view key = text(op, attribute.key);
    const auto known = std::find_if(row->attributes.begin(), row->attributes.end(),
                                    [&](const AttrRow& each) { return each.name == key; });
    if (known == row->attributes.end()) {
      if (is_annotation(key) || op.is("builtin.ModuleOp")) continue;
      report(diagnostics, op, DiagCode::kUnknownAttribute,
             fmt::format("'{}' has no attribute '{}'", op.name(), key));
    } else if (!fits(known->type, *attribute.value)) {
      report(diagnostics, op, DiagCode::kAttributeKind,
             fmt::format("attribute '{}' of '{}' is {}, expected {}", key, op.name(),
                         attribute.value->spelling(), describe(known->type)));
    }
  }
  for (const AttrRow& each : row->attributes) {
    if (!each.required || op.attribute(each.name) != nullptr) continue;
    report(diagnostics, op, DiagCode::kMissingAttribute,
           fmt::format("'{}' needs attribute '{}'", op.name(), each.name));
  }
}

}  // namespace mir::checks
