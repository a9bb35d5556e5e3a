// Checks attributes against their rows, and words the errors.
#include "ir/context/attribute_type.hpp"

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
    case AttrType::kMap:
      return "an array of extents";
    case AttrType::kInts:
      return "an array of integers";
    case AttrType::kDim:
      return "an extent";
    case AttrType::kDType:
      return "an element type";
    case AttrType::kSlices:
      return "an array of {\"start\":..,\"end\":..,\"step\":..}";
    case AttrType::kMaps:
      return "an array of arrays of extents";
    case AttrType::kDict:
      return "a dictionary";
    case AttrType::kQuantisation:
      return "a QuantSpec or a QuantAnnotation";
    case AttrType::kType:
      return "a type";
    case AttrType::kTypes:
      return "an array of types";
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
    case AttrType::kMap:
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
    case AttrType::kMaps:
      return all_elements(value, [](const Attr& each) { return all_elements(each, is_extent); });
    case AttrType::kDict:
      return value.kind() == AttrKind::kDict || value.kind() == AttrKind::kNull;
    case AttrType::kQuantisation:
      return value.kind() == AttrKind::kQuantSpec || value.kind() == AttrKind::kQuantAnnotation;
    case AttrType::kType:
      return value.kind() == AttrKind::kType;
    case AttrType::kTypes:
      return all_elements(value, [](const Attr& each) { return each.kind() == AttrKind::kType; });
    case AttrType::kAny:
      return true;
  }
  return true;
}

bool is_in_range(const AttrRow& row, const Attr& value) {
  if (!row.choices.empty() && value.kind() == AttrKind::kString) {
    return std::ranges::find(row.choices, value.text()) != row.choices.end();
  }
  if (row.range == AttrRange()) return true;
  if (value.kind() != AttrKind::kArray) return row.range.admits(value.number());
  return std::ranges::all_of(
      value.elements(), [&](const Attr* element) { return row.range.admits(element->number()); });
}

bool admits(const AttrRow& row, const Attr& value) {
  return admits(row.type, value) && is_in_range(row, value);
}

std::string expected_value(const AttrRow& row) {
  if (!row.choices.empty()) return fmt::format("one of '{}'", fmt::join(row.choices, "', '"));
  const AttrRange& range = row.range;
  if (range == AttrRange()) return std::string(describe(row.type));
  if (range.high > std::numeric_limits<double>::max()) {
    return fmt::format("{} of at least {}", describe(row.type), range.low);
  }
  if (range.low < std::numeric_limits<double>::lowest()) {
    return fmt::format("{} of at most {}", describe(row.type), range.high);
  }
  return fmt::format("{} from {} to {}", describe(row.type), range.low, range.high);
}

std::string missing_attribute(std::string_view op, const AttrRow& row) {
  return fmt::format("'{}' needs attribute '{}'", op, row.name);
}

std::string wrong_attribute(std::string_view op, const AttrRow& row, const Attr& value) {
  const std::string_view found = value.spelling().empty() ? "empty" : value.spelling();
  return fmt::format("attribute '{}' of '{}' is {}, expected {}", row.name, op, found,
                     expected_value(row));
}

namespace {

const Attr* integers(IRContext& context, std::string_view text) {
  std::vector<const Attr*> list;
  for (auto at = text.find_first_of("-0123456789"); at != text.npos;
       at = text.find_first_of("-0123456789", at)) {
    const auto end = std::min(text.find_first_of(",]", at), text.size());
    list.push_back(context.scalar(AttrKind::kInt, text.substr(at, end - at)));
    at = end;
  }
  return context.array(list);
}

}  // namespace

const Attr* default_value(IRContext& context, const AttrRow& row) {
  const std::string_view text = row.default_text;
  if (text.empty() || text == "?") return nullptr;
  switch (row.type) {
    case AttrType::kInt:
    case AttrType::kDim:
      return context.scalar(AttrKind::kInt, text);
    case AttrType::kFloat:
      return context.scalar(AttrKind::kFloat, text);
    case AttrType::kBool:
      return context.boolean(text == "true");
    case AttrType::kDims:
    case AttrType::kInts:
      return integers(context, text);
    case AttrType::kString:
    case AttrType::kDType:
    case AttrType::kDevice:
      return context.word(text);
    default:
      return nullptr;
  }
}

}  // namespace mir
