// Splits the text of an attribute of a dialect into its name and parameters.
#include "patterns/attribute_parts.hpp"

#include <algorithm>

#include "ir/context/elements.hpp"

namespace mir::patterns {

std::optional<AttributeParts> parts_of(const Attr& attribute, IRContext& context) {
  std::string_view text = attribute.spelling();
  if (attribute.kind() != AttrKind::kDialect || !text.starts_with('#')) return std::nullopt;
  text.remove_prefix(1);
  const std::size_t begin = std::min(text.find('<'), text.size());
  AttributeParts parts{.name = text.substr(0, begin), .parameters = {}};
  if (attribute.row() != nullptr) {
    parts.parameters.assign(attribute.parameters().begin(), attribute.parameters().end());
    return parts;
  }
  if (begin == text.size()) return parts;
  Diagnostics found(1);
  const auto list =
      read_elements(context, text.substr(begin + 1, text.size() - begin - 2), 0, found);
  if (!list) return std::nullopt;
  for (const Element& each : *list) parts.parameters.push_back(each.value);
  return parts;
}

}  // namespace mir::patterns
