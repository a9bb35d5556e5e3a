// Names of node kinds, and units of a syntax tree in compact arrays.
#include <algorithm>
#include <array>

#include "mir/parse.hpp"

namespace mir {

std::string_view enumerator_name(NodeKind kind) {
  static constexpr std::array<std::string_view, 36> kNames = {"Address",     "OpName",
                                                              "Label",       "Symbol",
                                                              "Angle",       "Name",
                                                              "Type",        "EncodedType",
                                                              "TypeValue",   "Value",
                                                              "ValueSymbol", "ValueAttributes",
                                                              "Port",        "Operands",
                                                              "Results",     "Leaf",
                                                              "Array",       "DictEntry",
                                                              "Dict",        "QuantEntry",
                                                              "EmptyEntry",  "QuantAnnotation",
                                                              "Attribute",   "Attributes",
                                                              "Successor",   "Successors",
                                                              "Loc",         "BodyBegin",
                                                              "RegionBegin", "RegionEnd",
                                                              "Block",       "BodyEnd",
                                                              "OpEnd",       "Alias",
                                                              "ModuleBegin", "ModuleEnd"};
  static_assert(kNames.size() == static_cast<std::size_t>(NodeKind::kModuleEnd) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

Unit::Unit(SourcePos base, std::span<const Token> tokens, std::span<const Node> nodes)
    : base_(base),
      token_count_(static_cast<std::uint32_t>(tokens.size())),
      node_count_(static_cast<std::uint32_t>(nodes.size())),
      tokens_(std::make_unique_for_overwrite<Token[]>(tokens.size())),
      nodes_(std::make_unique_for_overwrite<Node[]>(nodes.size())) {
  std::copy(tokens.begin(), tokens.end(), tokens_.get());
  std::copy(nodes.begin(), nodes.end(), nodes_.get());
}

}  // namespace mir
