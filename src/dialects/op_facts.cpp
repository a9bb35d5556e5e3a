// Renders signatures of ops and attributes from their table rows.
#include "dialects/op_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mir {

namespace {

std::string count_of(Arity arity, std::string_view what) {
  const std::string_view plural = arity.min == 1 && arity.max == 1 ? "" : "s";
  if (arity.max == Arity::kMany) return fmt::format("{} or more {}s", arity.min, what);
  if (arity.min == arity.max) return fmt::format("{} {}{}", arity.min, what, plural);
  return fmt::format("{} to {} {}s", arity.min, arity.max, what);
}

}  // namespace

std::string_view name_of(AttrType type) {
  switch (type) {
    case AttrType::kInt:
      return "integer";
    case AttrType::kFloat:
      return "number";
    case AttrType::kBool:
      return "boolean";
    case AttrType::kString:
      return "string";
    case AttrType::kSymbolRef:
      return "symbol";
    case AttrType::kDims:
      return "extents";
    case AttrType::kInts:
      return "integers";
    case AttrType::kDim:
      return "extent";
    case AttrType::kDType:
      return "element type";
    case AttrType::kDevice:
      return "device";
    case AttrType::kSlices:
      return "slices";
    case AttrType::kMaps:
      return "index maps";
    case AttrType::kMap:
      return "index map";
    case AttrType::kDict:
      return "dictionary";
    case AttrType::kQuantisation:
      return "quantisation";
    case AttrType::kType:
      return "type";
    case AttrType::kTypes:
      return "types";
    case AttrType::kAny:
      return "any value";
  }
  return "";
}

std::vector<std::string> words_of(const AttrRow& row) {
  if (row.type == AttrType::kBool) return {"true", "false"};
  return {row.choices.begin(), row.choices.end()};
}

std::string attribute_signature(const AttrRow& row) {
  std::string text = fmt::format("{}: {}", row.name, name_of(row.type));
  if (!row.choices.empty()) text = fmt::format("{}: {}", row.name, fmt::join(row.choices, " | "));
  if (!row.default_text.empty()) text += fmt::format(" = {}", row.default_text);
  if (row.required) text += ", required";
  return text;
}

std::string op_signature(std::string_view name, const OpRow* row) {
  if (row == nullptr) return std::string(name);
  return fmt::format("{} ({}) -> ({})", name, count_of(row->operands, "operand"),
                     count_of(row->results, "result"));
}

}  // namespace mir
