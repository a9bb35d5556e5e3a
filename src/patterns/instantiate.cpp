// Builds attributes and types from templates and bindings.
#include <algorithm>

#include "mir/context.hpp"
#include "patterns/plan_graph.hpp"

namespace mir::patterns {

namespace {

/// The elements of a list, packs among them spread. No value if one has none.
std::optional<std::vector<const Attr*>> instantiate_elements(const AttributeTemplate& from,
                                                             const Bindings& bindings,
                                                             IRContext& context) {
  std::vector<const Attr*> parts;
  for (const AttributeTemplate& each : from.elements) {
    const Attr* part = instantiate(each, bindings, context);
    if (part == nullptr && bindings.takes_unknown && !each.is_pack) {
      part = context.dim(Dim::unknown());
    }
    const bool is_list = part != nullptr && part->kind() == AttrKind::kArray;
    if (part == nullptr || (each.is_pack && !is_list)) return std::nullopt;
    if (each.is_pack) {
      parts.insert(parts.end(), part->elements().begin(), part->elements().end());
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

const Attr* instantiate_list(const AttributeTemplate& from, const Bindings& bindings,
                             IRContext& context) {
  const auto instantiated = instantiate_elements(from, bindings, context);
  if (!instantiated) return nullptr;
  const std::vector<const Attr*>& parts = *instantiated;
  if (from.kind == AttributeTemplate::Kind::kArray) return context.array(parts);
  std::vector<NamedAttr> entries;
  for (std::size_t i = 0; i < parts.size(); ++i) entries.push_back({from.keys[i], parts[i]});
  return context.dict(entries);
}

std::optional<Symbol> instantiate_name(const NameTemplate& from, const Bindings& bindings,
                                       IRContext& context) {
  if (!from.variable) return from.name;
  const Attr* bound = bindings.variables[*from.variable];
  if (bound == nullptr) return std::nullopt;
  return context.intern(bound->text());
}

}  // namespace

const Attr* instantiate(const AttributeTemplate& from, const Bindings& bindings,
                        IRContext& context) {
  switch (from.kind) {
    case AttributeTemplate::Kind::kLiteral:
      return from.literal;
    case AttributeTemplate::Kind::kVariable:
      return bindings.variables[from.variable];
    case AttributeTemplate::Kind::kExpression:
      return evaluate(from.expression, bindings, context);
    case AttributeTemplate::Kind::kArray:
    case AttributeTemplate::Kind::kDict:
      return instantiate_list(from, bindings, context);
    case AttributeTemplate::Kind::kDialect: {
      const auto parameters = instantiate_elements(from, bindings, context);
      if (!parameters) return nullptr;
      const auto made = context.dialect_attribute(from.name, *parameters);
      return made ? *made : nullptr;
    }
    case AttributeTemplate::Kind::kAny:
      break;
  }
  return nullptr;
}

/// The encoding of a type; null for none. No value if a variable is not bound.
std::optional<const Attr*> instantiate_encoding(const TypeTemplate& from, const Bindings& bindings,
                                                IRContext& context) {
  if (!from.encoding) return nullptr;
  const Attr* made = instantiate(*from.encoding, bindings, context);
  if (made == nullptr) return std::nullopt;
  return made->kind() == AttrKind::kNull ? nullptr : made;
}

const Type* instantiate(const TypeTemplate& from, const Bindings& bindings, IRContext& context) {
  if (from.is_any || from.exact != nullptr) return from.exact;
  if (!from.kind.empty()) {
    const Attr* parameters = instantiate(from.extents, bindings, context);
    if (parameters == nullptr) return nullptr;
    const auto made = context.dialect_type(from.kind, parameters->elements());
    return made ? *made : nullptr;
  }
  const auto dtype = instantiate_name(from.dtype, bindings, context);
  const auto device = instantiate_name(from.device, bindings, context);
  if (!dtype || !device) return nullptr;
  std::vector<Dim> dims;
  const auto add = [&](const Attr& each) {
    const bool is_unknown = each.kind() == AttrKind::kDim && each.dim().is_unknown();
    const auto extent = is_unknown ? std::optional(Dim::unknown()) : extent_of(each);
    if (!extent || extent->is_negative()) return false;
    dims.push_back(*extent);
    return true;
  };
  const auto add_all = [&](std::span<const Attr* const> extents) {
    return std::ranges::all_of(extents, [&](const Attr* each) { return add(*each); });
  };
  if (from.extents.kind == AttributeTemplate::Kind::kArray) {
    const auto extents = instantiate_elements(from.extents, bindings, context);
    if (!extents || !add_all(*extents)) return nullptr;
  } else {
    const Attr* extents = instantiate(from.extents, bindings, context);
    if (extents == nullptr || !add_all(extents->elements())) return nullptr;
  }
  const auto encoding = instantiate_encoding(from, bindings, context);
  return encoding ? context.tensor(dims, *dtype, *device, *encoding) : nullptr;
}

}  // namespace mir::patterns
